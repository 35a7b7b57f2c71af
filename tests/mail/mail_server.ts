import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

/** A message as a mail server got it. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Head and body as they came. */
  readonly raw: string;
  readonly user: string | null;
  readonly greeting: string;
  readonly isEncrypted: boolean;
}

export interface MailServer {
  readonly port: number;
  readonly received: ReceivedMail[];
  close(): Promise<void>;
}

/** A mail server on this machine that keeps what it gets. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    disableReverseLookup: true,
    onAuth: ({ username, password }, _session, done) =>
      password === "the p@ss" && username !== undefined
        ? done(null, { user: username })
        : done(new Error("Wrong password")),
    onData(stream, session, done) {
      const chunks: Uint8Array[] = [];
      stream.on("data", (chunk: Uint8Array) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: new TextDecoder().decode(new Uint8Array(chunks.flatMap((chunk) => [...chunk]))),
          user: typeof session.user === "string" ? session.user : null,
          greeting: String(session.hostNameAppearsAs),
          isEncrypted: session.secure,
        });
        done();
      });
    },
    ...options,
  });
  // Clients that hang up in the middle are what some tests are about.
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.server.address() as AddressInfo).port,
    received,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
