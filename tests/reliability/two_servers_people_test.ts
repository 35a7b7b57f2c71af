/**
 * What ends on one server has ended on the other a second later: sessions, by whatever ends them, API
 * tokens, all tokens, and shared dashboards. Each is in use on the other until then, so that it is
 * believed there at that moment.
 */
import assert from "node:assert/strict";
import { operatorToken, pause, ServerProcess } from "../support/server_process.ts";
import { PASSWORD } from "../support/person_browser.ts";
import { onPostgres } from "./on_postgres.ts";

/** What the contract says; what is asked after it must be refused, however slow the machine is. */
const ENDED_AFTER_MS = 1_000;
const NEXT_PASSWORD = "four lamps by the harbour";
const PROJECT = "prj_default";

type Servers = readonly [ServerProcess, ServerProcess];

interface Reply {
  readonly status: number;
  // Tests look into replies of every shape.
  // deno-lint-ignore no-explicit-any
  readonly body: any;
  readonly cookie: string | null;
}

async function ask(
  server: ServerProcess,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<Reply> {
  const reply = await fetch(server.url + path, {
    method,
    headers: { "Content-Type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  const cookie = /^footfall=[^;]+/.exec(reply.headers.get("set-cookie") ?? "")?.[0] ?? null;
  return { status: reply.status, body: text === "" ? null : JSON.parse(text), cookie };
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** As an operator, with every scope. */
async function administer(server: ServerProcess, method: string, path: string, body?: unknown) {
  const token = await operatorToken("read write jobs admin people");
  const reply = await ask(server, method, path, bearer(token), body);
  assert.ok(reply.status < 300, `${method} ${path}: ${JSON.stringify(reply.body)}`);
  return reply.body;
}

/** Somebody who is signed in, on whichever server: both take the cookie. */
class Somebody {
  cookie = "";
  id = "";
  constructor(readonly email: string) {}

  async ask(server: ServerProcess, method: string, path: string, body?: unknown): Promise<Reply> {
    return await ask(server, method, path, { Cookie: this.cookie, Origin: server.url }, body);
  }

  async signIn(server: ServerProcess): Promise<void> {
    const body = { email: this.email, password: PASSWORD };
    const reply = await ask(server, "POST", "/v1/auth/sign-in", { Origin: server.url }, body);
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
    this.cookie = reply.cookie!;
    this.id = reply.body.person.id;
  }

  async token(server: ServerProcess): Promise<string> {
    const reply = await this.ask(server, "POST", "/v1/auth/token");
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
    return reply.body.token;
  }
}

async function somebody(servers: Servers): Promise<Somebody> {
  const email = `${crypto.randomUUID().slice(0, 8)}@example.com`;
  const wanted = { email, role: "admin", projects: ["*"], password: PASSWORD };
  await administer(servers[0], "POST", "/v1/people", wanted);
  const who = new Somebody(email);
  await who.signIn(servers[0]);
  return who;
}

/** Whether a read is answered on a server by this token. */
async function opens(server: ServerProcess, token: string, path = "/v1/session"): Promise<boolean> {
  const { status } = await ask(server, "GET", path, bearer(token));
  assert.ok(status === 200 || status === 401, `${path}: ${status}`);
  return status === 200;
}

/** `end` on the first server; then the token is in use on the second until it must hold no more. */
async function endsOnBoth(
  [one, two]: Servers,
  token: string,
  end: () => Promise<unknown>,
  path?: string,
): Promise<void> {
  assert.equal(await opens(two, token, path), true);
  await end();
  assert.equal(await opens(one, token, path), false, "at once where it was ended");
  const endedAt = performance.now();
  while (performance.now() - endedAt < ENDED_AFTER_MS) {
    await opens(two, token, path);
    await pause(20);
  }
  assert.equal(await opens(two, token, path), false, "on the other after a second");
}

type Step = (servers: Servers) => Promise<void>;

const STEPS: Readonly<Record<string, Step>> = {
  "signing out": async (servers) => {
    const who = await somebody(servers);
    const token = await who.token(servers[1]);
    await endsOnBoth(servers, token, () => who.ask(servers[0], "POST", "/v1/auth/sign-out"));
    const [, two] = servers;
    assert.equal((await who.ask(two, "POST", "/v1/auth/token")).body.code, "no_session");
  },
  "another password": async (servers) => {
    const who = await somebody(servers);
    const other = new Somebody(who.email);
    await other.signIn(servers[1]);
    const token = await other.token(servers[1]);
    const change = { current: PASSWORD, next: NEXT_PASSWORD };
    await endsOnBoth(servers, token, async () => {
      const { status } = await who.ask(servers[0], "POST", "/v1/auth/password", change);
      assert.equal(status, 204);
    });
    assert.equal((await who.ask(servers[1], "POST", "/v1/auth/token")).status, 200);
    assert.equal((await other.ask(servers[1], "POST", "/v1/auth/token")).status, 401);
  },
  "one session of several": async (servers) => {
    const who = await somebody(servers);
    const other = new Somebody(who.email);
    await other.signIn(servers[1]);
    const { sessions } = (await who.ask(servers[0], "GET", "/v1/auth/sessions")).body;
    const { id } = sessions.find(({ current }: { current: boolean }) => !current);
    const token = await other.token(servers[1]);
    await endsOnBoth(
      servers,
      token,
      () => who.ask(servers[0], "DELETE", `/v1/auth/sessions/${id}`),
    );
  },
  "removal": async (servers) => {
    const who = await somebody(servers);
    const token = await who.token(servers[1]);
    const remove = () => administer(servers[0], "DELETE", `/v1/people/${who.id}`);
    await endsOnBoth(servers, token, remove);
    assert.equal((await who.ask(servers[1], "POST", "/v1/auth/token")).status, 401);
  },
  "another role": async (servers) => {
    const who = await somebody(servers);
    const token = await who.token(servers[1]);
    const demote = { role: "viewer" };
    await endsOnBoth(
      servers,
      token,
      () => administer(servers[0], "PATCH", `/v1/people/${who.id}`, demote),
    );
    // The session goes on, with what they may do now.
    const next = await who.token(servers[1]);
    const { scopes } = (await ask(servers[1], "GET", "/v1/session", bearer(next))).body;
    assert.deepEqual(scopes, ["read"]);
  },
  "an API token": async (servers) => {
    const wanted = { name: "Report", scope: "read", projects: [PROJECT] };
    const { id, token } = await administer(servers[0], "POST", "/v1/tokens", wanted);
    await endsOnBoth(
      servers,
      token,
      () => administer(servers[0], "DELETE", `/v1/tokens/${id}`),
    );
  },
  "a shared dashboard": async (servers) => {
    const shares = `/v1/projects/${PROJECT}/shares`;
    const wanted = { title: "Board", views: ["funnels"] };
    const { id } = await administer(servers[0], "POST", shares, wanted);
    const entered = await ask(servers[1], "POST", `/v1/shares/${id}/token`, {}, {});
    const { token } = entered.body;
    const revoke = () => administer(servers[0], "DELETE", `${shares}/${id}`);
    await endsOnBoth(servers, token, revoke, "/v1/funnels");
    const again = await ask(servers[1], "POST", `/v1/shares/${id}/token`, {}, {});
    assert.equal(again.status, 404);
  },
  // Last, for it ends what the others have.
  "everything": async (servers) => {
    const who = await somebody(servers);
    const token = await who.token(servers[1]);
    const operator = await administer(servers[0], "POST", "/v1/internal/tokens", {
      projects: ["*"],
      scope: "admin",
      ttlSeconds: 600,
    });
    await endsOnBoth(servers, token, async () => {
      const path = "/v1/internal/tokens";
      const { status, body } = await ask(servers[0], "DELETE", path, bearer(operator.token));
      assert.equal(status, 200);
      assert.ok(body.sessionsEnded >= 1);
    });
    assert.equal((await who.ask(servers[1], "POST", "/v1/auth/token")).status, 401);
  },
};

onPostgres(
  "two servers on one PostgreSQL: what lets people in ends on both within a second",
  async (postgres) => {
    await using one = new ServerProcess(postgres.env);
    await using two = new ServerProcess(postgres.env);
    await Promise.all([one.ready(), two.ready()]);
    for (const [name, step] of Object.entries(STEPS)) {
      await step([one, two]).catch((cause) => {
        throw new Error(`Ended by ${name}`, { cause });
      });
    }
    assert.deepEqual(await Promise.all([one.stop(), two.stop()]), [0, 0]);
  },
);
