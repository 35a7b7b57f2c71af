/**
 * Tests the access of every route in the route table, with every role, every single scope, and projects of
 * the token and others. New routes are tested automatically: a route that needs a scope must refuse a token
 * for another project, or be listed below with the reason why none can be refused; a route that needs nothing
 * must be listed below too.
 */
import assert from "node:assert/strict";
import type { Access } from "../../src/auth/access.ts";
import { SCOPES } from "../../src/auth/access.ts";
import { CLIENT_ROUTES } from "../../src/clients/protocols.ts";
import { ROLES, scopesOf } from "../../src/auth/roles.ts";
import { SHARE_VIEWS } from "../../src/shares/share_views.ts";
import type { Reply } from "../support/app.ts";
import { sharedPeopleApp } from "../support/people_database.ts";

const people = sharedPeopleApp();

/** Routes that anybody may ask, without a token. */
const OPEN = new Set([
  "GET /healthz",
  "GET /readyz",
  "GET /metrics",
  "GET /sdk.js",
  "GET /sdk.mjs",
  "GET /sdk.d.ts",
  "GET /sdk-vitals.js",
  "GET /script.js",
  "GET /js/:file",
  "GET /static/:file",
  "GET /array/:key/array.js",
  "GET /",
  "GET /assets/app.js",
  "GET /assets/app.css",
  "GET /assets/:part",
  "GET /v1/openapi.json",
  "GET /v1/auth",
  "POST /v1/auth/owner",
  "POST /v1/auth/sign-in",
  "POST /v1/auth/sign-out",
  "POST /v1/auth/invitation",
  "POST /v1/auth/invitation/look",
  "POST /v1/auth/reset",
  "GET /v1/auth/oidc/start",
  "GET /v1/auth/oidc/callback",
  "POST /v1/auth/passkeys/sign-in/options",
  "POST /v1/auth/passkeys/sign-in",
  // Anybody with a share's link, and its password if there is one.
  "POST /v1/shares/:shareId/token",
  "GET /share/:shareId",
  // Anybody with the link of a mail.
  "GET /v1/unsubscribe",
  "POST /v1/unsubscribe",
]);

/** Routes that ask for a token, whatever its scopes. */
const ANY_TOKEN = new Set(["GET /v1/session"]);

/** Routes of the whole deployment: for tokens for every project alone. */
const EVERY_PROJECT = new Set([
  "POST /v1/projects",
  "DELETE /v1/internal/tokens",
  "GET /v1/people",
  "POST /v1/people",
  "PATCH /v1/people/:id",
  "DELETE /v1/people/:id",
  "POST /v1/people/:id/invitation",
]);

/** Routes of everything that there is, secrets too: for tokens that may do everything, everywhere. */
const EVERYTHING = new Set([
  "GET /v1/archive",
  "GET /v1/move",
  "POST /v1/move",
  "GET /v1/move/rows",
  "GET /v1/archive/figures",
  "POST /v1/restorations",
  "POST /v1/restorations/frames",
]);

/** Routes that name no project, and why a token for some projects may ask all the same. */
const NO_PROJECT: Readonly<Record<string, string>> = {
  "GET /v1/projects": "lists those of the token",
  "GET /v1/audit": "lists what concerns those of the token",
  "POST /v1/internal/tokens": "names them in its body, where each must be the token's",
  "GET /v1/tokens": "lists those that are one's own, or within one's own projects",
  "POST /v1/tokens": "names them in its body, where each must be the token's",
  "DELETE /v1/tokens/:id": "finds those that are one's own, or within one's own projects",
  "POST /mcp": "each call names one, which must be the token's",
  "POST /v1/internal/jobs/heatmap-captures": "names one in its body, which must be the token's",
  "GET /v1/internal/jobs/heatmap-captures/:id": "finds those of the token's projects",
};

/** Bodies that name a project which is not the token's. */
const FOREIGN_BODIES: Readonly<Record<string, (project: string) => unknown>> = {
  "POST /v1/internal/tokens": (project) => ({
    projects: [project],
    scope: "read",
    ttlSeconds: 60,
  }),
  "POST /v1/tokens": (project) => ({
    name: "Mine",
    projects: [project],
    scope: "read",
    expiresAt: new Date(Date.now() + 600_000).toISOString(),
  }),
  "POST /v1/internal/jobs/heatmap-captures": (project) => ({ project }),
};

/** Routes that would end the tokens of this test. */
const NOT_ASKED = new Set(["DELETE /v1/internal/tokens"]);

interface Row {
  readonly method: string;
  readonly path: string;
  readonly access: Access;
}
const nameOf = ({ method, path }: Pick<Row, "method" | "path">) => `${method} ${path}`;

interface Holder {
  readonly called: string;
  readonly token: string;
  readonly scopes: readonly string[];
  readonly projects: readonly string[] | "*";
}

/** The route's URL for a project: in its path, or as a parameter. Other names name nothing. */
function urlOf({ path }: Row, project: string): string {
  const named = path.replace(/^(\/v1\/projects\/):id/, `$1${project}`).replace(/:\w+/g, "nothing");
  return path.startsWith("/v1/projects/:id") ? named : `${named}?project=${project}`;
}

async function ask(
  row: Row,
  project: string,
  token: string | null,
  sent: unknown = {},
): Promise<Reply> {
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (token !== null) headers.Authorization = `Bearer ${token}`;
  const init = {
    method: row.method,
    headers,
    ...(row.method === "GET" ? {} : { body: JSON.stringify(sent) }),
  };
  return await people.app.fetch(urlOf(row, project), init);
}

/** The scope that a route asks for; null: none. */
const scopeOf = ({ access }: Row) =>
  access === "write or key" ? "write" : SCOPES.find((scope) => scope === access) ?? null;
const isScoped = (row: Row) => scopeOf(row) !== null;

/** Whether, by the tables, this token gets past the access check to the handler. */
function mayPass(row: Row, { scopes, projects }: Holder, asked: string): boolean {
  // Tokens that may read everything may read aggregates too.
  const isReader = row.access === "aggregates" && scopes.includes("read");
  if (!isReader && !scopes.includes(scopeOf(row) ?? "")) return false;
  const name = nameOf(row);
  if (EVERYTHING.has(name) && !scopesOf("owner").every((scope) => scopes.includes(scope))) {
    return false;
  }
  if (projects === "*") return true;
  if (EVERY_PROJECT.has(name) || EVERYTHING.has(name)) return false;
  return name in NO_PROJECT || projects.includes(asked);
}

/** Makes a share that shows everything a share may show; returns the token of its page. */
async function shareOf(own: string): Promise<Holder> {
  const wanted = { title: "Everything", views: SHARE_VIEWS };
  const { body: share } = await people.app.admin("POST", `/v1/projects/${own}/shares`, wanted);
  const entry = { method: "POST" };
  const { status, body } = await people.app.fetch(`/v1/shares/${share.id}/token`, entry);
  assert.equal(status, 200, JSON.stringify(body));
  return { called: "share", token: body.token, scopes: ["aggregates"], projects: [own] };
}

async function holders(own: string): Promise<Holder[]> {
  const grants: (readonly string[] | "*")[] = [[own], "*"];
  const found: Holder[] = [await shareOf(own)];
  for (const projects of grants) {
    for (const role of ROLES) {
      if (role === "owner" && projects !== "*") continue;
      const { id } = await people.person(role, projects);
      const token = await (await people.browserOf(id)).token();
      found.push({ called: role, token, scopes: scopesOf(role), projects });
    }
    for (const scope of SCOPES) {
      // Only the token of a share has this scope.
      if (scope === "aggregates") continue;
      const token = await people.app.token(projects === "*" ? ["*"] : [...projects], scope);
      found.push({ called: scope, token, scopes: [scope], projects });
    }
  }
  return found;
}

const rows = () => people.app.app.routes;

Deno.test("access: every route that needs no token, or any token, is listed", () => {
  const of = (...accesses: Access[]) =>
    new Set(rows().filter(({ access }) => accesses.includes(access)).map(nameOf));
  assert.deepEqual(of("open", "anyone"), OPEN);
  assert.deepEqual(of("session"), ANY_TOKEN);
  assert.deepEqual(of("key"), new Set(["POST /v1/events", ...CLIENT_ROUTES.map(nameOf)]));
});

Deno.test("access: the listed exceptions exist as routes", () => {
  const names = new Set(rows().map(nameOf));
  for (const name of [...EVERY_PROJECT, ...EVERYTHING, ...Object.keys(NO_PROJECT), ...NOT_ASKED]) {
    assert.ok(names.has(name), name);
  }
});

Deno.test("access: no route with a scope lets anybody in without a token, or with an invalid one", async () => {
  for (const row of rows()) {
    if (!isScoped(row) && row.access !== "session") continue;
    for (const [token, code] of [[null, "missing_token"], ["a.b.c", "invalid_token"]] as const) {
      const { status, body } = await ask(row, "prj_default", token);
      assert.deepEqual([nameOf(row), status, body.code], [nameOf(row), 401, code]);
    }
  }
});

Deno.test("access: role × scope × project × route: exactly what the tables do not list is refused", async () => {
  const own = (await people.app.project({ name: "Own" })).id;
  const other = (await people.app.project({ name: "Other" })).id;
  const mistakes: string[] = [];
  let passed = 0;
  let refused = 0;
  for (const holder of await holders(own)) {
    for (const row of rows().filter(isScoped)) {
      for (const asked of [own, other]) {
        const may = mayPass(row, holder, asked);
        if (may && NOT_ASKED.has(nameOf(row))) continue;
        const { status, body } = await ask(row, asked, holder.token);
        const isRefused = status === 403 && body.code === "insufficient_scope";
        if (may) passed++;
        else refused++;
        if (isRefused !== may && status !== 401 && status < 500) continue;
        const whose = `${holder.called} of ${holder.projects === "*" ? "all" : "own"}`;
        const what = `${nameOf(row)} on ${asked === own ? "own" : "other"}`;
        mistakes.push(`${whose}: ${what}: ${status} ${body.code ?? ""}, may pass: ${may}`);
      }
    }
  }
  assert.deepEqual(mistakes, []);
  assert.ok(passed > 200 && refused > 500, `${passed} passed, ${refused} were refused`);
});

Deno.test("access: a project that is named in a body must be the token's, too", async () => {
  const own = (await people.app.project({ name: "Own" })).id;
  const other = (await people.app.project({ name: "Other" })).id;
  const { id } = await people.person("admin", [own]);
  const token = await (await people.browserOf(id)).token();
  for (const [name, bodyOf] of Object.entries(FOREIGN_BODIES)) {
    const row = rows().find((one) => nameOf(one) === name);
    assert.ok(row !== undefined && name in NO_PROJECT, name);
    const { status, body } = await ask(row, own, token, bodyOf(other));
    assert.deepEqual([name, status, body.code], [name, 403, "insufficient_scope"]);
  }
});

Deno.test("access: routes of the cookie accept no token, and no request from another site's page", async () => {
  const { id } = await people.person("owner");
  const browser = await people.browserOf(id);
  const token = await browser.token();
  for (const row of rows().filter(({ access }) => access === "person")) {
    const name = nameOf(row);
    const path = row.path.replace(/:\w+/g, "nothing");
    const none: Record<string, string>[] = [
      { Authorization: `Bearer ${token}`, Origin: "http://footfall.test" },
      { Authorization: `Bearer ${token}` },
      {},
    ];
    for (const headers of none) {
      const reply = await people.app.fetch(path, { method: row.method, headers });
      assert.deepEqual([name, reply.status, reply.body.code], [name, 401, "no_session"]);
    }
    if (row.method === "GET") continue;
    const foreign: Record<string, string>[] = [
      { Origin: "https://evil.example" },
      { Origin: "null" },
      { Origin: "http://footfall.test", "Sec-Fetch-Site": "cross-site" },
      { Origin: "http://footfall.test:81" },
      { Origin: "http://footfall.test.evil.example" },
    ];
    for (const headers of foreign) {
      const reply = await browser.ask(row.method, path, undefined, { headers });
      assert.deepEqual([name, reply.status, reply.body.code], [name, 403, "foreign_origin"]);
    }
  }
  assert.equal((await browser.ask("GET", "/v1/auth/account")).status, 200);
});
