import type { AuditEntry } from "../audit/audit.ts";
import { type ApiExchange, type Principal, requirePrincipal } from "./access.ts";

export interface AuditServices {
  /** The address of the client that sent a request; null: unknown. */
  readonly clientAddress: (peer: string | null, headers: Headers) => string | null;
}

/** Who sent a request, and from where, as the audit records it. */
export function askedBy(
  { clientAddress }: AuditServices,
  { who, peer, request }: Pick<ApiExchange, "who" | "peer" | "request">,
): Pick<AuditEntry, "who" | "from"> {
  return { who: auditName(requirePrincipal(who)), from: clientAddress(peer, request.headers) };
}

/**
 * A principal's name in the audit. A token may have any subject, so one that looks like a person's e-mail
 * address is marked as a token's.
 */
export function auditName({ subject, session, apiTokenId }: Principal): string {
  if (apiTokenId !== undefined) return `API token ${subject}`;
  if (session !== undefined) return subject;
  if (subject === "") return "a token without a subject";
  return subject.includes("@") ? `a token for ${subject}` : subject;
}
