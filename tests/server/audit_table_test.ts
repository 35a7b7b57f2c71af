/**
 * Tests what the audit records: every route of the route table that changes something writes one entry, or is
 * listed below with the reason why it writes none. New routes are tested automatically, and every action name
 * must be used.
 */
import assert from "node:assert/strict";
import { AUDIT_ACTIONS, type AuditAction } from "../../src/audit/audit.ts";
import { addPasskey } from "../../src/auth/passkeys/passkeys.ts";
import { makeLink } from "../../src/auth/people/links.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import type { Json, Reply, TestProject } from "../support/app.ts";
import { sharedPeopleApp } from "../support/people_database.ts";
import { PASSWORD, PersonBrowser } from "../support/person_browser.ts";

const people = sharedPeopleApp();
const NEXT_PASSWORD = "four lamps by the harbour";

/** The world of each case: a project, an editor of it, and an owner's browser. */
interface World {
  readonly project: TestProject;
  readonly editorId: string;
  readonly browser: PersonBrowser;
  /** The e-mail address of the browser's owner. */
  readonly email: string;
}

type Ask = (world: World) => Promise<Reply>;
type Case = readonly [what: AuditAction, ask: Ask];

/** Sends a request with the token of a signed-in person. */
function as(method: string, pathOf: (world: World) => string | Promise<string>, body?: Json): Ask {
  return async (world) => {
    const path = await pathOf(world);
    return await world.browser.as(await world.browser.token(), method, path, body);
  };
}

/** Sends a request with the cookie of a signed-in person. */
function byCookie(method: string, pathOf: (world: World) => string | Promise<string>, body?: Json) {
  return async (world: World) => await world.browser.ask(method, await pathOf(world), body);
}

const inProject = (rest: string) => ({ project }: World) => `/v1/projects/${project.id}${rest}`;
const ofEditor = (rest = "") => ({ editorId }: World) => `/v1/people/${editorId}${rest}`;

/** The path of something that is made first, by the process's own token. */
function made(list: (world: World) => string, body: Json, rest = "") {
  return async (world: World) => {
    const path = list(world);
    const reply = await people.app.admin("POST", path, body);
    assert.equal(reply.status, 201, JSON.stringify(reply.body));
    return `${path}/${reply.body.id}${rest}`;
  };
}

const KEY = { kind: "secret" };
const SHARE = { title: "Board" };
const TOKEN = { name: "Report", scope: "read", projects: ["*"] };

const WEBHOOK = { title: "Chat", url: "https://hooks.example.com/1" };
const DIGEST = { title: "The day", every: "daily", webhooks: ["chat"] };
const ALERT = {
  title: "Quiet",
  on: { kind: "silence", minutes: 30 },
  webhooks: ["chat"],
};

/** The path of a digest, alert or webhook, in a project that has the webhook it goes to. */
function savedPath(kind: "digests" | "alerts" | "webhooks") {
  return async ({ project }: World) => {
    const query = `?project=${project.id}`;
    if (kind !== "webhooks") await people.app.admin("PUT", `/v1/webhooks/chat${query}`, WEBHOOK);
    return `/v1/${kind}/one${query}`;
  };
}

/** Deletes a digest, alert or webhook that the process's own token has saved. */
function removed(kind: "digests" | "alerts" | "webhooks", body: Json): Ask {
  return as("DELETE", async (world) => {
    const path = await savedPath(kind)(world);
    const reply = await people.app.admin("PUT", path, body);
    assert.equal(reply.status, 201, JSON.stringify(reply.body));
    return path;
  });
}

/** The path of a passkey, in the row that the device's answer would have made. */
async function somePasskey({ email }: World): Promise<string> {
  const [person] = await people.sql.query<{ person_id: string }>(
    "SELECT person_id FROM people WHERE email = $1::text",
    [email],
  );
  const credentialId = crypto.randomUUID().replaceAll("-", "");
  const publicKey = new Uint8Array([1]);
  const { id } = await addPasskey(people.sql, {
    personId: person!.person_id,
    name: "Laptop",
    passkey: { credentialId, publicKey, counter: 0, transports: [] },
    nowMs: Date.now(),
  });
  return `/v1/auth/passkeys/${id}`;
}

/** Uses a link of this kind, as its recipient does. */
function byLink(kind: "invitation" | "reset"): Ask {
  return async () => {
    const { id } = await people.person("viewer");
    if (kind === "invitation") {
      await people.sql.query("UPDATE people SET joined_at = NULL WHERE person_id = $1::text", [id]);
    }
    const { secret } = await makeLink(people.sql, { kind, personId: id, nowMs: Date.now() });
    const body = { token: secret, password: NEXT_PASSWORD };
    return await new PersonBrowser(people.app).ask("POST", `/v1/auth/${kind}`, body);
  };
}

/** Makes the first owner of a server without people. */
const firstOwner: Ask = async () => {
  await people.sql.query("DELETE FROM people");
  const setupToken = await people.app.app.makeSetUpLink();
  const body = { setupToken, email: "first@example.com", name: "First", password: PASSWORD };
  return await new PersonBrowser(people.app).ask("POST", "/v1/auth/owner", body);
};

/** The path of a visitor with one event. */
const visitorPath = async ({ project }: World) => {
  await people.app.post(project, [{ eventId: crypto.randomUUID(), anonymousId: "somebody" }]);
  return `/v1/actors/somebody?project=${project.id}`;
};

const exported: Ask = async ({ browser, project }) =>
  await browser.ask("GET", `/v1/events?project=${project.id}`, undefined, {
    headers: {
      Authorization: `Bearer ${await browser.token()}`,
      Accept: "application/x-ndjson",
    },
  });

/** An import is recorded once its file has come, before it is read: an unreadable one is recorded too. */
const attempted: Ask = async (world) => {
  const reply = await as("POST", inProject("/import/file"), { not: "a file" })(world);
  assert.equal(reply.status, 400, JSON.stringify(reply.body));
  return { ...reply, status: 200 };
};

/** The beginning of a project's restoration. */
const restored: Ask = async ({ browser }) => {
  const id = `prj_${crypto.randomUUID().slice(0, 8)}`;
  const body = {
    archive: crypto.randomUUID(),
    schema: MIGRATIONS.length,
    projects: [{ id, as: id }],
  };
  return await browser.as(await browser.token(), "POST", "/v1/restorations", body);
};

const NOTE = { at: "2026-01-31", text: "Version 2" };
const ofNotes = ({ project }: World) => `/v1/notes?project=${project.id}`;

/** The path of a note that is made first. */
async function madeNote(world: World): Promise<string> {
  const { body } = await people.app.admin("POST", ofNotes(world), NOTE);
  return `/v1/notes/${body.id}?project=${world.project.id}`;
}

/** Every route whose request is recorded, with each action that it may be. */
const RECORDED: Readonly<Record<string, readonly Case[]>> = {
  "POST /v1/auth/owner": [["owner.create", firstOwner]],
  "POST /v1/auth/invitation": [["person.join", byLink("invitation")]],
  "POST /v1/auth/reset": [["password.change", byLink("reset")]],
  "POST /v1/auth/password": [[
    "password.change",
    byCookie("POST", () => "/v1/auth/password", { current: null, next: NEXT_PASSWORD }),
  ]],
  "PATCH /v1/auth/account": [[
    "person.change",
    byCookie("PATCH", () => "/v1/auth/account", { name: "Another" }),
  ]],
  "DELETE /v1/auth/sessions": [["session.end", byCookie("DELETE", () => "/v1/auth/sessions")]],
  "DELETE /v1/auth/sessions/:id": [[
    "session.end",
    byCookie("DELETE", async ({ browser }) => {
      const { sessions } = (await browser.ask("GET", "/v1/auth/sessions")).body;
      return `/v1/auth/sessions/${sessions[0].id}`;
    }),
  ]],
  "DELETE /v1/auth/passkeys/:id": [["passkey.remove", byCookie("DELETE", somePasskey)]],
  "POST /v1/people": [[
    "person.invite",
    as("POST", () => "/v1/people", { email: "new@example.com", role: "viewer", projects: ["*"] }),
  ]],
  "PATCH /v1/people/:id": [
    ["person.change", as("PATCH", ofEditor(), { name: "Another" })],
    ["person.role", as("PATCH", ofEditor(), { role: "admin" })],
  ],
  "DELETE /v1/people/:id": [["person.remove", as("DELETE", ofEditor())]],
  "POST /v1/people/:id/invitation": [["person.reset", as("POST", ofEditor("/invitation"))]],
  "POST /v1/projects": [["project.create", as("POST", () => "/v1/projects", { name: "Another" })]],
  "PATCH /v1/projects/:id": [["project.change", as("PATCH", inProject(""), { name: "Another" })]],
  "POST /v1/projects/:id/keys": [["key.create", as("POST", inProject("/keys"), KEY)]],
  "POST /v1/projects/:id/keys/:keyId/rotate": [[
    "key.rotate",
    as("POST", made(inProject("/keys"), KEY, "/rotate")),
  ]],
  "DELETE /v1/projects/:id/keys/:keyId": [[
    "key.revoke",
    as("DELETE", made(inProject("/keys"), KEY)),
  ]],
  "POST /v1/projects/:id/shares": [["share.create", as("POST", inProject("/shares"), SHARE)]],
  "PATCH /v1/projects/:id/shares/:shareId": [[
    "share.change",
    as("PATCH", made(inProject("/shares"), SHARE), { title: "The board" }),
  ]],
  "DELETE /v1/projects/:id/shares/:shareId": [[
    "share.revoke",
    as("DELETE", made(inProject("/shares"), SHARE)),
  ]],
  "PUT /v1/digests/:slug": [["digest.save", as("PUT", savedPath("digests"), DIGEST)]],
  "DELETE /v1/digests/:slug": [["digest.delete", removed("digests", DIGEST)]],
  "PUT /v1/alerts/:slug": [["alert.save", as("PUT", savedPath("alerts"), ALERT)]],
  "DELETE /v1/alerts/:slug": [["alert.delete", removed("alerts", ALERT)]],
  "PUT /v1/webhooks/:slug": [["webhook.save", as("PUT", savedPath("webhooks"), WEBHOOK)]],
  "DELETE /v1/webhooks/:slug": [["webhook.delete", removed("webhooks", WEBHOOK)]],
  "POST /v1/tokens": [["token.create", as("POST", () => "/v1/tokens", TOKEN)]],
  "DELETE /v1/tokens/:id": [["token.revoke", as("DELETE", made(() => "/v1/tokens", TOKEN))]],
  "POST /v1/internal/tokens": [[
    "token.issue",
    as("POST", () => "/v1/internal/tokens", { projects: ["*"], scope: "read", ttlSeconds: 60 }),
  ]],
  "DELETE /v1/internal/tokens": [["token.revoke_all", as("DELETE", () => "/v1/internal/tokens")]],
  "GET /v1/actors/:id": [["actor.export", as("GET", visitorPath)]],
  "DELETE /v1/actors/:id": [["actor.erase", as("DELETE", visitorPath)]],
  "GET /v1/events": [["events.export", exported]],
  "POST /v1/projects/:id/import/file": [["events.import", attempted]],
  "POST /v1/notes": [["note.create", as("POST", ofNotes, NOTE)]],
  "PATCH /v1/notes/:id": [["note.change", as("PATCH", madeNote, { text: "Version 3" })]],
  "DELETE /v1/notes/:id": [["note.delete", as("DELETE", madeNote)]],
  "GET /v1/archive": [[
    "archive.make",
    as("GET", ({ project }) => `/v1/archive?project=${project.id}`),
  ]],
  "POST /v1/restorations": [["archive.restore", restored]],
};

/** Routes whose entries need more than a request, and the test that sees them. */
const SEEN_ELSEWHERE: Readonly<Record<string, readonly [AuditAction, string]>> = {
  "POST /v1/unsubscribe": ["told.unsubscribe", "tests/notifications/digests_test.ts"],
  "POST /v1/auth/passkeys": ["passkey.add", "tests/auth/passkeys/passkeys_test.ts"],
  "GET /v1/auth/oidc/callback": ["person.join", "tests/dashboard/oidc_test.ts"],
  "POST /v1/projects/:id/import": ["events.import", "tests/ingest/import_endpoint_test.ts"],
  "POST /v1/projects/:id/imported-history/:source": [
    "history.import",
    "tests/imported/imported_history_test.ts",
  ],
  "DELETE /v1/projects/:id/imported-history/:source": [
    "history.remove",
    "tests/imported/imported_history_test.ts",
  ],
};

/** Routes that change something but are not recorded, with the reason. */
const NOT_RECORDED: Readonly<Record<string, string>> = {
  "POST /v1/auth/sign-in": "begins a session, which stands in the account with device and place",
  "POST /v1/auth/passkeys/sign-in": "begins a session, too",
  "POST /v1/auth/sign-out": "ends what its person began here, a moment ago or for long",
  "POST /v1/auth/token": "is what a session is for, every quarter of an hour",
  "POST /v1/auth/invitation/look": "reads whom a link is for",
  "POST /v1/auth/passkeys/options": "asks a device, and changes nothing",
  "POST /v1/auth/passkeys/sign-in/options": "asks a device, and changes nothing",
  "POST /v1/shares/:shareId/token": "reads a shared dashboard: visitors are not recorded",
  "PUT /v1/funnels/:slug": "a saved question opens nothing to anybody",
  "DELETE /v1/funnels/:slug": "a saved question, too",
  "PUT /v1/goals/:slug": "a saved question, too",
  "DELETE /v1/goals/:slug": "a saved question, too",
  "POST /v1/digests/:slug/test": "sends what its saving was recorded of; its messages are listed",
  "POST /v1/alerts/:slug/test": "sends what its saving was recorded of, too",
  "POST /v1/webhooks/:slug/test": "sends what its saving was recorded of, too",
  "PUT /v1/segments/:slug": "a saved question, too",
  "DELETE /v1/segments/:slug": "a saved question, too",
  "POST /v1/internal/jobs/heatmap-captures": "takes pictures of public pages",
  "POST /mcp": "reads, and nothing else",
  "POST /v1/move": "is a step of `footfall move`, each for 15 seconds, by who runs both databases",
  "POST /v1/restorations/frames": "is a part of what its restoration is recorded as",
};

const routes = () =>
  people.app.app.routes.map(({ method, path, access }) => ({
    name: `${method} ${path}`,
    method,
    path,
    access,
  }));

interface Entry extends Record<string, unknown> {
  readonly what: string;
  readonly who: string;
  readonly from_address: string | null;
}

async function entriesAfter(id: number): Promise<Entry[]> {
  return await people.sql.query<Entry>(
    "SELECT what, who, from_address FROM audit WHERE audit_id > $1::int ORDER BY audit_id",
    [id],
  );
}

async function lastEntry(): Promise<number> {
  const [row] = await people.sql.query<{ id: number }>(
    "SELECT COALESCE(max(audit_id), 0)::int AS id FROM audit",
  );
  return row!.id;
}

async function newWorld(): Promise<World> {
  const { id, email } = await people.person("owner");
  const { id: editorId } = await people.person("editor");
  const browser = await people.browserOf(id);
  return { project: await people.app.project(), editorId, browser, email };
}

Deno.test("audit: each route that changes something is recorded, or says why not, and once", () => {
  const listed = [RECORDED, SEEN_ELSEWHERE, NOT_RECORDED].flatMap((some) => Object.keys(some));
  assert.equal(new Set(listed).size, listed.length, "each stands in one list");
  const known = new Set(routes().map(({ name }) => name));
  for (const name of listed) assert.ok(known.has(name), `${name} is no route any more`);
  // Events are sent by visitors with an API key; `GET /v1/events` shows them.
  const changing = routes().filter(({ method, access }) => method !== "GET" && access !== "key");
  const missing = changing.map(({ name }) => name).filter((name) => !listed.includes(name));
  assert.deepEqual(missing, []);
});

for (const [name, cases] of Object.entries(RECORDED)) {
  for (const [what, ask] of cases) {
    Deno.test(`audit: ${name} writes one entry, ${what}`, async () => {
      const world = await newWorld();
      // Preparations of a case are recorded too, as done by the process itself.
      const before = await lastEntry();
      const reply = await ask(world);
      assert.ok(reply.status < 300, `${reply.status} ${JSON.stringify(reply.body)}`);
      const entries = (await entriesAfter(before)).filter(({ who }) => who !== "operator");
      assert.deepEqual(entries.map((entry) => entry.what), [what]);
      assert.equal(entries[0]!.from_address, "203.0.113.7");
      assert.match(entries[0]!.who, /@example\.com$/);
    });
  }
}

Deno.test("audit: a PATCH that changes nothing writes nothing", async () => {
  const world = await newWorld();
  const { name } = (await world.browser.ask("GET", "/v1/auth/account")).body.person;
  const asks = [
    byCookie("PATCH", () => "/v1/auth/account", { name }),
    as("PATCH", ofEditor(), { role: "editor" }),
    as("PATCH", inProject(""), {}),
  ];
  const share = await made(inProject("/shares"), SHARE)(world);
  const note = await madeNote(world);
  asks.push(as("PATCH", () => share, SHARE), as("PATCH", () => note, NOTE));
  const before = await lastEntry();
  for (const ask of asks) assert.equal((await ask(world)).status, 200);
  assert.deepEqual(await entriesAfter(before), []);
});

Deno.test("audit: reading writes nothing", async () => {
  const world = await newWorld();
  const token = await world.browser.token();
  const before = await lastEntry();
  for (const { name, method, path } of routes()) {
    if (method !== "GET" || name in RECORDED || name in SEEN_ELSEWHERE) continue;
    if (path === "/v1/live") continue;
    const named = path.replace(/^(\/v1\/projects\/):id/, `$1${world.project.id}`)
      .replace(/:\w+/g, "nothing");
    const url = path.startsWith("/v1/projects/:id")
      ? named
      : `${named}?project=${world.project.id}`;
    await world.browser.as(token, method, url);
  }
  assert.deepEqual(await entriesAfter(before), []);
});

Deno.test("audit: every action is one that some route writes", () => {
  const written = new Set([
    ...Object.values(RECORDED).flatMap((cases) => cases.map(([what]) => what)),
    ...Object.values(SEEN_ELSEWHERE).map(([what]) => what),
  ]);
  assert.deepEqual(AUDIT_ACTIONS.filter((action) => !written.has(action)), []);
});
