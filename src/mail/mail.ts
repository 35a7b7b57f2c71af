import { Buffer } from "node:buffer";
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { Log } from "../http/log.ts";
import { MAIL_MS_MAX } from "./mail_limits.ts";
import { domainOf, type MailSettings, type SmtpServer } from "./smtp_settings.ts";

/** A picture in a message. */
export interface MailAttachment {
  /** The content id by which the message's HTML refers to it. */
  readonly cid: string;
  readonly filename: string;
  readonly contentType: string;
  readonly content: Uint8Array;
}

/** A message as plain text, and also as HTML if that is given. */
export interface MailMessage {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  readonly attachments?: readonly MailAttachment[];
  /** Makes the Message-ID, so that a repeated message can be recognized; absent: a random one. */
  readonly id?: string;
  /** The `id` of an earlier message, below which mail programs show this one; absent: none. */
  readonly inReplyTo?: string;
  /** The one-click unsubscribe link (RFC 8058); absent: none. */
  readonly unsubscribeUrl?: string;
}

export interface Mail {
  /**
   * Hands a message to the mail server. Never throws.
   * @returns null: the server accepted it; else a sentence that says why not
   */
  send(message: MailMessage): Promise<string | null>;
}

/** The library's description of a failure. */
interface Failure {
  readonly code?: string;
  readonly responseCode?: number;
  readonly message?: string;
}

/** Whether TLS failed: the server offers none, or its certificate is not trusted. */
function isUnencrypted({ code, message = "" }: Failure): boolean {
  return code === "ETLS" || code === "ESOCKET" && /certificate|TLS|SSL/i.test(message);
}

function sentence(failure: Failure, { host, port }: SmtpServer): string {
  const server = `The mail server at ${host}:${port}`;
  const { code, responseCode } = failure;
  if (isUnencrypted(failure)) {
    return `${server} offers no encryption that this server accepts, so nothing was sent to it. ` +
      "Where that is as it should be, SMTP_URL takes ?requireTLS=false.";
  }
  const answer = responseCode === undefined ? "" : ` (its answer is ${responseCode})`;
  switch (code) {
    case "EAUTH":
    case "ENOAUTH":
      return `${server} refuses the user or the password of SMTP_URL${answer}.`;
    case "EENVELOPE":
      return `${server} does not take mail from SMTP_FROM to this address${answer}.`;
    case "EMESSAGE":
    case "EPROTOCOL":
      return `${server} does not take the message${answer}.`;
    default:
      return `${server} does not answer.`;
  }
}

/** Returns what a message has besides its text. */
function richParts({ html, attachments = [], id, inReplyTo }: MailMessage, from: string) {
  const earlier = `<${inReplyTo}@${domainOf(from)}>`;
  return {
    ...(html === undefined ? {} : { html }),
    ...(id === undefined ? {} : { messageId: `<${id}@${domainOf(from)}>` }),
    ...(inReplyTo === undefined ? {} : { inReplyTo: earlier, references: earlier }),
    attachments: attachments.map(({ content, ...attachment }) => ({
      ...attachment,
      content: Buffer.from(content),
      contentDisposition: "inline" as const,
    })),
  };
}

function headersOf({ unsubscribeUrl }: MailMessage): Record<string, string> {
  return {
    "Auto-Submitted": "auto-generated",
    ...(unsubscribeUrl === undefined ? {} : {
      "List-Unsubscribe": `<${unsubscribeUrl}>`,
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    }),
  };
}

/**
 * Sends mail by SMTP. The library is loaded with the first message. The mail server's name is looked up by the
 * operating system, so that names of the own network are found.
 */
export function createMail(
  { server, from }: MailSettings,
  log: Pick<Log, "warn">,
  timeoutMs = MAIL_MS_MAX,
): Mail {
  async function deliver(message: MailMessage, signal: AbortSignal): Promise<void> {
    const { createTransport } = await import("nodemailer");
    const address = isIP(server.host) === 0 ? (await lookup(server.host)).address : server.host;
    const transport = createTransport({
      host: address,
      port: server.port,
      secure: server.isTls,
      requireTLS: server.mustEncrypt,
      tls: {
        ...(isIP(server.host) === 0 ? { servername: server.host } : {}),
        // If mail may be sent unencrypted, an untrusted certificate is no worse.
        rejectUnauthorized: server.isTls || server.mustEncrypt,
      },
      ...(server.user === null ? {} : { auth: { user: server.user, pass: server.password ?? "" } }),
      // The name in the greeting; by default the library would look up the machine's own.
      name: domainOf(from),
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      // No content is ever read from files or URLs.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    try {
      await transport.sendMail({
        from,
        // As an object, so that it is not parsed as a list of addresses.
        to: { name: "", address: message.to },
        subject: message.subject,
        text: message.text,
        ...richParts(message, from),
        headers: headersOf(message),
        signal,
      });
    } finally {
      transport.close();
    }
  }

  return {
    async send(message) {
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        const late = new Promise<never>((_, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason), { once: true })
        );
        await Promise.race([deliver(message, signal), late]);
        return null;
      } catch (error) {
        const failure = Object(error) as Failure;
        // The log names no person.
        log.warn("mail not sent", { code: failure.code, answer: failure.responseCode });
        return sentence(failure, server);
      }
    },
  };
}
