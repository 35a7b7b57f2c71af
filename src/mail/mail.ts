import { Buffer } from "node:buffer";
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { Log } from "../http/log.ts";
import { MAIL_MS_MAX } from "./mail_limits.ts";
import { domainOf, type MailSettings, type SmtpServer } from "./smtp_settings.ts";

/** A picture within a message. */
export interface MailAttachment {
  /** By which the message's HTML names it. */
  readonly cid: string;
  readonly filename: string;
  readonly contentType: string;
  readonly content: Uint8Array;
}

/** One message, as plain text, and as HTML beside it where that is given. */
export interface MailMessage {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  readonly attachments?: readonly MailAttachment[];
  /** What its Message-ID is made of, so that one that comes twice can be told; absent: any. */
  readonly id?: string;
  /** The `id` of an earlier message, below which mail programs show this one; absent: none. */
  readonly inReplyTo?: string;
  /** What a mail program asks where its reader wants no more of these (RFC 8058); absent: nothing. */
  readonly unsubscribeUrl?: string;
}

/** What became of a message: null where the mail server took it, else why not, in a sentence. */
export type MailProblem = string | null;

export interface Mail {
  /** Hands a message to the mail server. Never throws: what it is about is stored already. */
  send(message: MailMessage): Promise<MailProblem>;
}

/** What the library says of a failure. */
interface Failure {
  readonly code?: string;
  readonly responseCode?: number;
  readonly message?: string;
}

/** Whether TLS came to nothing: none was offered, or by a certificate that nobody vouches for. */
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

/** What a message has beside its text. */
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
 * Mail by SMTP. The library is loaded with the first message. The name of the mail server is looked
 * up as the system does it, so that names of one's own network are known.
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
        // Where mail may go without encryption, one that nobody vouches for is no worse.
        rejectUnauthorized: server.isTls || server.mustEncrypt,
      },
      ...(server.user === null ? {} : { auth: { user: server.user, pass: server.password ?? "" } }),
      // What the mail server is greeted with; without it the machine's own name is asked for.
      name: domainOf(from),
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      // Texts are ours, and nothing is to be read from files or addresses.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    try {
      await transport.sendMail({
        from,
        // As an object, so that no address is read as several.
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
