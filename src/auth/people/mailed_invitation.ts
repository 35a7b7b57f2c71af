import { linkMail } from "../../mail/link_mail.ts";
import type { Mail } from "../../mail/mail.ts";
import type { Person } from "./people.ts";

/** A link that was just made for somebody. */
export interface NewInvitation {
  readonly kind: "invitation" | "reset";
  readonly url: string;
  /** ISO 8601 in UTC. */
  readonly expiresAt: string;
}

/** An invitation as replies show it: mailed, or to be handed over by whoever asked for it. */
export interface ShownInvitation {
  readonly url: string;
  readonly expiresAt: string;
  readonly mailed: boolean;
  /** Why it was not mailed although a mail server is configured; null: nothing went wrong. */
  readonly mailProblem: string | null;
}

/**
 * Mails a link whose transaction has committed: no mail is about what is not stored, and a mail server
 * that is down undoes nothing. `by`: who makes it, as the audit names them.
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
