import { isIP } from "node:net";

/** The mail server, and the sender. */
export interface MailSettings {
  readonly server: SmtpServer;
  /** `Footfall <stats@example.com>` or the address alone. */
  readonly from: string;
}

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** Whether TLS begins with the first byte; else by STARTTLS, if the server offers it. */
  readonly isTls: boolean;
  /** Whether nothing is sent, neither a password nor mail, if the server offers no TLS. */
  readonly mustEncrypt: boolean;
  readonly user: string | null;
  readonly password: string | null;
}

const PORT_OF: Readonly<Record<string, number>> = { "smtp:": 587, "smtps:": 465 };
const ADDRESS = /^[^\s@<>"(),:;\\[\]]+@[^\s@<>"(),:;\\[\]]+$/;
const NAMED = /^"?([^"<>\r\n]*?)"?\s*<([^<>\s]+)>$/;

function isOwnMachine(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "");
  return bare === "localhost" || bare === "::1" || isIP(bare) === 4 && bare.startsWith("127.");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error("must have its user and password percent-encoded: % is %25, @ is %40");
  }
}

/** Parses SMTP_URL. Throws an Error whose message says what it must be, without its value. */
export function smtpServer(value: string): SmtpServer {
  const url = URL.parse(value);
  const port = PORT_OF[url?.protocol ?? ""];
  const isPlain = url !== null && /^\/?$/.test(url.pathname) && url.hash === "";
  const encrypts = url?.searchParams.get("requireTLS") ?? "true";
  const known = [...url?.searchParams.keys() ?? []].every((name) => name === "requireTLS");
  if (
    port === undefined || url === null || !isPlain || url.hostname === "" || !known ||
    !/^(?:true|false)$/.test(encrypts)
  ) {
    throw new Error(
      "must be an address such as smtp://user:password@mail.example.com:587 or smtps://…; " +
        "?requireTLS=false allows a mail server without encryption",
    );
  }
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? port : Number(url.port),
    isTls: url.protocol === "smtps:",
    mustEncrypt: encrypts === "true" && !isOwnMachine(url.hostname),
    user: url.username === "" ? null : decoded(url.username),
    password: url.password === "" ? null : decoded(url.password),
  };
}

/** Checks SMTP_FROM. Throws an Error whose message says what it must be. */
export function mailSender(value: string): string {
  const address = NAMED.exec(value)?.[2] ?? value;
  if (!ADDRESS.test(address)) {
    throw new Error("must be an address such as stats@example.com or Footfall <stats@example.com>");
  }
  return value;
}

/** Returns the domain of a sender. */
export function domainOf(from: string): string {
  return from.slice(from.lastIndexOf("@") + 1).replace(/>\s*$/, "");
}
