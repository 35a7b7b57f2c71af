import type { MailMessage } from "./mail.ts";

/** A link that works once, to be mailed to its person. */
interface LinkForMail {
  readonly kind: "invitation" | "reset";
  readonly to: string;
  /** The person's name. */
  readonly name: string;
  readonly url: string;
  /** ISO 8601 in UTC. */
  readonly expiresAt: string;
  /** The name, in the audit, of who made the link. */
  readonly by: string;
}

/** Writes the mail with a link. */
export function linkMail({ kind, to, name, url, expiresAt, by }: LinkForMail): MailMessage {
  const host = URL.parse(url)?.host ?? url;
  const until = `${expiresAt.slice(0, 16).replace("T", " ")} UTC`;
  const what = kind === "invitation"
    ? `${by} invites you to Footfall at ${host}. Open this link to choose a password and to sign in:`
    : `${by} has made a link with which you choose a new password for Footfall at ${host}:`;
  const unasked = kind === "invitation"
    ? "If you do not know what this is about, leave it: nothing happens without you."
    : "If you did not ask for it, leave it: your password stays as it is.";
  return {
    to,
    subject: kind === "invitation"
      ? `Your invitation to Footfall at ${host}`
      : `A new password for Footfall at ${host}`,
    text: [
      `Hello ${name},`,
      what,
      url,
      `It works once, until ${until}. ${unasked}`,
    ].join("\n\n") + "\n",
  };
}
