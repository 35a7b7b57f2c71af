import assert from "node:assert/strict";
import { TestApp } from "../support/app.ts";
import { startMailServer } from "./mail_server.ts";

const ADA = { email: "ada@example.com", name: "Ada", role: "viewer", projects: ["*"] };

async function withApp(env: Record<string, string>, work: (app: TestApp) => Promise<void>) {
  const app = await new TestApp(env).start();
  try {
    await work(app);
  } finally {
    await app.stop();
  }
}

const mailTo = (port: number) => ({
  SMTP_URL: `smtp://127.0.0.1:${port}`,
  SMTP_FROM: "Footfall <stats@example.org>",
  PUBLIC_URL: "https://stats.example.org",
});

/** The text of a message, with its soft line breaks undone. */
const textOf = (raw: string) => raw.replaceAll("=\r\n", "").replaceAll("=3D", "=");

/** Uses a link to choose a password. */
async function join(app: TestApp, url: string, password: string): Promise<number> {
  const [, kind, token] = /#(invitation|reset)=(.+)$/.exec(url)!;
  const { status } = await app.fetch(`/v1/auth/${kind}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token, name: "Ada", password }),
  });
  return status;
}

Deno.test("invitations and password links are mailed, with the link in the reply", async () => {
  const server = await startMailServer();
  try {
    await withApp(mailTo(server.port), async (app) => {
      const invited = await app.admin("POST", "/v1/people", ADA);
      assert.equal(invited.status, 201, JSON.stringify(invited.body));
      const { url, mailed, mailProblem } = invited.body.invitation;
      assert.deepEqual([mailed, mailProblem], [true, null]);
      assert.match(url, /^https:\/\/stats\.example\.org\/#invitation=/);
      assert.deepEqual(server.received[0]?.to, [ADA.email]);
      assert.ok(textOf(server.received[0]!.raw).includes(url));
      assert.match(server.received[0]!.raw, /^Subject: Your invitation to Footfall/m);
      assert.equal(await join(app, url, "three quiet otters"), 200);

      const path = `/v1/people/${invited.body.person.id}/invitation`;
      const reset = (await app.admin("POST", path)).body.invitation;
      assert.deepEqual([reset.mailed, reset.mailProblem], [true, null]);
      assert.ok(textOf(server.received[1]!.raw).includes(reset.url));
      assert.match(server.received[1]!.raw, /^Subject: A new password for Footfall/m);

      const wanted = { ...ADA, email: "bob@example.com", password: "four quiet otters" };
      const withPassword = await app.admin("POST", "/v1/people", wanted);
      assert.equal(withPassword.body.invitation, null);
      const refused = await app.admin("POST", "/v1/people", ADA);
      assert.equal(refused.status, 409);
      assert.equal(server.received.length, 2, "nothing else is mailed");
      assert.ok(!app.logLines.join("\n").includes("ada@"), "the log names no person");
    });
  } finally {
    await server.close();
  }
});

Deno.test("a mail server that is down is reported, and nothing is undone", async () => {
  const closed = await startMailServer();
  await closed.close();
  await withApp(mailTo(closed.port), async (app) => {
    const invited = await app.admin("POST", "/v1/people", ADA);
    assert.equal(invited.status, 201);
    const { url, mailed, mailProblem } = invited.body.invitation;
    assert.equal(mailed, false);
    assert.equal(
      mailProblem,
      `The mail server at 127.0.0.1:${closed.port} does not answer. Hand the link over yourself.`,
    );
    assert.equal(await join(app, url, "three quiet otters"), 200, "the link holds all the same");
    const { rows } = (await app.admin("GET", "/v1/audit?limit=2")).body;
    assert.ok(rows.some(({ what }: { what: string }) => what === "person.invite"));
  });
});

Deno.test("without a mail server links are only in the reply", () =>
  withApp({}, async (app) => {
    const { mailed, mailProblem } = (await app.admin("POST", "/v1/people", ADA)).body.invitation;
    assert.deepEqual([mailed, mailProblem], [false, null]);
  }));
