import { linkMail } from "../../mail/link_mail.ts";
import type { Mail } from "../../mail/mail.ts";
import type { Person } from "./people.ts";

/** A new link for a person. */
export interface NewInvitation {
  readonly kind: "invitation" | "reset";
  readonly url: string;
  /** ISO 8601 in UTC. */
  readonly expiresAt: string;
}

/** An invitation as replies show it. If it was not mailed, whoever made it passes the link on. */
export interface ShownInvitation {
  readonly url: string;
  readonly expiresAt: string;
  readonly mailed: boolean;
  /** Why mailing it failed; null: it did not fail, or no mail server is configured. */
  readonly mailProblem: string | null;
}

/**
 * Mails a link. Call it after the transaction has committed: then no mail has a link that is not stored, and a
 * mail server that is down undoes nothing. `by`: the name, in the audit, of who made the link.
 */
export async function mailInvitation(
  mail: Mail | null,
  { email, name }: Person,
  { kind, url, expiresAt }: NewInvitation,
  by: string,
): Promise<ShownInvitation> {
  if (mail === null) return { url, expiresAt, mailed: false, mailProblem: null };
  const problem = await mail.send(linkMail({ kind, to: email, name, url, expiresAt, by }));
  const mailProblem = problem === null ? null : `${problem} Hand the link over yourself.`;
  return { url, expiresAt, mailed: problem === null, mailProblem };
}
