import type { AuditEntry } from "../audit/audit.ts";
import { type ApiExchange, type Principal, requirePrincipal } from "./access.ts";

/** What tells where a request came from. */
export interface AuditServices {
  readonly clientAddress: (peer: string | null, headers: Headers) => string | null;
}

/** Who asks, and from where, as the audit records it. */
export function askedBy(
  { clientAddress }: AuditServices,
  { who, peer, request }: Pick<ApiExchange, "who" | "peer" | "request">,
): Pick<AuditEntry, "who" | "from"> {
  return { who: nameOf(requirePrincipal(who)), from: clientAddress(peer, request.headers) };
}

/**
 * A principal as the audit names them. A token may be given any subject: one that looks like the
 * e-mail of a person is told apart from a person who signed in.
 */
export function nameOf({ subject, session, listed }: Principal): string {
  if (listed !== undefined) return `API token ${subject}`;
  if (session !== undefined) return subject;
  if (subject === "") return "a token without a subject";
  return subject.includes("@") ? `a token for ${subject}` : subject;
}
