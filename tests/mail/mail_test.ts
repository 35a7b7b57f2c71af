import assert from "node:assert/strict";
import { linkMail } from "../../src/mail/link_mail.ts";
import { createMail } from "../../src/mail/mail.ts";
import { mailSender, type MailSettings, smtpServer } from "../../src/mail/smtp_settings.ts";
import { type MailServer, startMailServer } from "./mail_server.ts";

const LETTER = { to: "ada@example.com", subject: "Grüße", text: "Hello Ada,\n\nhere it is.\n" };
const FROM = "Footfall <stats@example.org>";

function settings(port: number, change: Partial<MailSettings["server"]> = {}): MailSettings {
  return { server: { ...smtpServer(`smtp://127.0.0.1:${port}`), ...change }, from: FROM };
}

/** What `send` says, and what the log says of it. */
async function sent(of: MailSettings, message = LETTER, timeoutMs = 20_000) {
  const logged: unknown[] = [];
  const log = { warn: (text: string, facts?: unknown) => void logged.push([text, facts]) };
  return { problem: await createMail(of, log, timeoutMs).send(message), logged };
}

async function withServer(
  options: Parameters<typeof startMailServer>[0],
  work: (server: MailServer) => Promise<void>,
): Promise<void> {
  const server = await startMailServer(options);
  try {
    await work(server);
  } finally {
    await server.close();
  }
}

Deno.test("mail: a message arrives complete, with its sender and receiver", () =>
  withServer({}, async (server) => {
    const { problem, logged } = await sent(settings(server.port));
    assert.deepEqual([problem, logged], [null, []]);
    const [mail] = server.received;
    assert.ok(mail !== undefined && server.received.length === 1);
    assert.deepEqual([mail.from, mail.to], ["stats@example.org", ["ada@example.com"]]);
    assert.deepEqual([mail.user, mail.greeting], [null, "example.org"]);
    assert.match(mail.raw, /^From: Footfall <stats@example\.org>\r$/m);
    assert.match(mail.raw, /^Subject: =\?UTF-8\?Q\?Gr=C3=BC=C3=9Fe\?=\r$/m);
    assert.match(mail.raw, /^Auto-Submitted: auto-generated\r$/m);
    assert.match(mail.raw, /\r\n\r\nHello Ada,\r\n\r\nhere it is\.\r\n$/);
  }));

Deno.test("mail: with a user and a password, and refused with wrong ones", () =>
  withServer({}, async (server) => {
    const right = settings(server.port, { user: "stats", password: "the p@ss" });
    assert.equal((await sent(right)).problem, null);
    assert.equal(server.received[0]?.user, "stats");
    const wrong = settings(server.port, { user: "stats", password: "secret-of-ours" });
    const { problem, logged } = await sent(wrong);
    assert.match(problem!, /refuses the user or the password of SMTP_URL \(its answer is 535\)\.$/);
    assert.deepEqual(logged, [["mail not sent", { code: "EAUTH", answer: 535 }]]);
    assert.equal(server.received.length, 1);
  }));

Deno.test("mail: a server's name is looked up by the system", () =>
  withServer({}, async (server) => {
    assert.equal((await sent(settings(server.port, { host: "localhost" }))).problem, null);
  }));

Deno.test("mail: nothing is sent without encryption, or to an untrusted certificate", async () => {
  await withServer({}, async (server) => {
    const { problem } = await sent(settings(server.port, { mustEncrypt: true }));
    assert.match(problem!, /offers no encryption that this server accepts.*requireTLS=false\.$/);
    assert.equal(server.received.length, 0);
  });
  // Its certificate is one that nobody vouches for.
  await withServer({ disabledCommands: [] }, async (server) => {
    const { problem } = await sent(settings(server.port, { mustEncrypt: true }));
    assert.match(problem!, /offers no encryption that this server accepts/);
    assert.equal(server.received.length, 0);
    assert.equal((await sent(settings(server.port))).problem, null);
    assert.deepEqual(server.received.map(({ isEncrypted }) => isEncrypted), [true]);
  });
});

Deno.test("mail: a refused address or message is reported", async () => {
  const refusing = Object.assign(new Error("No such mailbox"), { responseCode: 550 });
  await withServer({ onRcptTo: (_to, _session, done) => done(refusing) }, async (server) => {
    const { problem, logged } = await sent(settings(server.port));
    assert.match(
      problem!,
      /does not take mail from SMTP_FROM to this address \(its answer is 550\)/,
    );
    assert.ok(!JSON.stringify(logged).includes("ada"), "the log names no person");
  });
  const onData = (stream: NodeJS.ReadableStream, _: unknown, done: (error: Error) => void) => {
    stream.resume();
    stream.on("end", () => done(Object.assign(new Error("Spam"), { responseCode: 554 })));
  };
  await withServer({ onData }, async (server) => {
    const { problem } = await sent(settings(server.port));
    assert.match(problem!, /does not take the message \(its answer is 554\)\.$/);
  });
});

Deno.test("mail: a server that is down, silent or not a mail server is reported in time", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const open: Deno.Conn[] = [];
  const accepting = (async () => {
    for await (const connection of listener) open.push(connection);
  })();
  const silent = await sent(settings(port), LETTER, 200);
  assert.equal(silent.problem, `The mail server at 127.0.0.1:${port} does not answer.`);
  listener.close();
  await accepting;
  for (const connection of open) connection.close();
  const down = await sent(settings(port));
  assert.equal(down.problem, `The mail server at 127.0.0.1:${port} does not answer.`);
  const nameless = await sent(settings(25, { host: "nobody.invalid" }));
  assert.equal(nameless.problem, "The mail server at nobody.invalid:25 does not answer.");
});

Deno.test("mail: names and addresses cannot add headers or receivers", () =>
  withServer({}, async (server) => {
    const link = linkMail({
      kind: "invitation",
      to: "ada@example.com",
      name: "Ada\r\nBcc: eve@example.com",
      url: "https://stats.example.com/#invitation=abc",
      expiresAt: "2026-11-28T04:05:06.000Z",
      by: "ann@example.com",
    });
    const evil = { ...link, subject: "Hi\r\nBcc: eve@example.com" };
    assert.equal((await sent(settings(server.port), evil)).problem, null);
    const [mail] = server.received;
    assert.deepEqual(mail?.to, ["ada@example.com"]);
    assert.doesNotMatch(mail!.raw.split("\r\n\r\n")[0]!, /^Bcc:/m);
    const two = { ...LETTER, to: "ada@example.com, eve@example.com" };
    await sent(settings(server.port), two);
    const reached = server.received.flatMap(({ to }) => to);
    assert.ok(!reached.includes("eve@example.com"), reached.join(" "));
  }));

Deno.test("linkMail: has the maker, the host, the expiry, and the link once", () => {
  const of = {
    to: "ada@example.com",
    name: "Ada",
    url: "https://stats.example.com/a/#reset=abc",
    expiresAt: "2026-11-28T04:05:06.000Z",
    by: "ann@example.com",
  };
  const reset = linkMail({ ...of, kind: "reset" });
  assert.equal(reset.subject, "A new password for Footfall at stats.example.com");
  assert.match(reset.text, /^Hello Ada,\n\nann@example\.com has made a link/);
  assert.equal(reset.text.split(of.url).length, 2);
  assert.match(reset.text, /until 2026-11-28 04:05 UTC\. If you did not ask/);
  const invitation = linkMail({ ...of, kind: "invitation" });
  assert.match(invitation.text, /ann@example\.com invites you to Footfall at stats\.example\.com/);
});

Deno.test("SMTP_URL and SMTP_FROM: valid values, and the messages for others", () => {
  const server = smtpServer("smtp://st%40ts:p%3Ass@mail.example.com");
  assert.deepEqual(server, {
    ...{ host: "mail.example.com", port: 587, isTls: false, mustEncrypt: true },
    ...{ user: "st@ts", password: "p:ss" },
  });
  assert.deepEqual(smtpServer("smtps://mail.example.com:8465/"), {
    ...{ host: "mail.example.com", port: 8465, isTls: true, mustEncrypt: true },
    ...{ user: null, password: null },
  });
  assert.equal(smtpServer("smtps://mail.example.com").port, 465);
  const open = [
    "smtp://localhost:25",
    "smtp://127.0.0.2",
    "smtp://[::1]:25",
    "smtp://a?requireTLS=false",
  ];
  for (const url of open) assert.equal(smtpServer(url).mustEncrypt, false, url);
  assert.equal(smtpServer("smtp://[2001:db8::1]:25").host, "2001:db8::1");
  const wrong = [
    ...["mail.example.com", "http://a", "smtp://", "smtp://a/path", "smtp://a#x"],
    ...["smtp://a?tls=no", "smtp://a?requireTLS=perhaps", "smtp://user:%zz@a"],
  ];
  for (const url of wrong) {
    assert.throws(() => smtpServer(url), (error: Error) => {
      assert.match(error.message, /^must (?:be|have)/, url);
      return !error.message.includes("%zz");
    });
  }
  for (const from of ["a@example.com", "Footfall <a@example.com>", '"A, B" <a@example.com>']) {
    assert.equal(mailSender(from), from);
  }
  for (const from of ["Footfall", "a@", "A <b>", "a@b, c@d", "A <a@b> <c@d>", "a@b\r\nBcc: c@d"]) {
    assert.throws(() => mailSender(from), /^Error: must be an address/, from);
  }
});
