import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { SignJWT } from "jose";
import { onFreshEngines } from "../support/databases.ts";
import { assertStored, Load } from "../support/load.ts";
import { JWT_SECRET, type ServerProcess, startServer, until } from "../support/server_process.ts";

const preload = fileURLToPath(new URL("../support/moved_clock.ts", import.meta.url));

/** Issued so long ago that it is no token of the future after the clock was turned back. */
function earlierToken(): Promise<string> {
  return new SignJWT({ projects: ["*"], scope: "read write jobs admin" })
    .setProtectedHeader({ alg: "HS256" }).setIssuedAt(Math.floor(Date.now() / 1000) - 7_200)
    .setExpirationTime("12h").sign(new TextEncoder().encode(JWT_SECRET));
}

async function call(server: ServerProcess, method: string, path: string, body?: object) {
  const reply = await fetch(server.url + path, {
    method,
    headers: {
      "Authorization": `Bearer ${await earlierToken()}`,
      "Content-Type": "application/json",
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: reply.status, body: reply.status === 204 ? null : await reply.json() };
}

/** Posts one event. @returns the status, and the code of a problem */
async function post(server: ServerProcess, key: string, event: object): Promise<string> {
  const reply = await fetch(`${server.url}/v1/events`, {
    method: "POST",
    headers: { "X-API-Key": key },
    body: JSON.stringify({ events: [{ eventId: crypto.randomUUID(), ...event }] }),
  });
  const { code } = await reply.json();
  return `${reply.status}${code === undefined ? "" : ` ${code}`}`;
}

/** A visit that goes on while the clock is turned back, in a project of its own. */
async function visit(server: ServerProcess, key: string, page: number): Promise<void> {
  const event = {
    name: "page_view",
    anonymousId: "one visitor",
    path: `/${page}`,
    // Of the client's own clock, which nobody has touched.
    timestamp: new Date().toISOString(),
  };
  assert.equal(await post(server, key, event), "200");
}

onFreshEngines("the clock goes back by an hour under load: nothing breaks", async (_t, db) => {
  const env = { ...db.env, RATE_LIMIT_EVENTS_PER_SECOND: "2000" };
  await using server = await startServer(env, { preload });
  const project = (await call(server, "POST", "/v1/projects", { name: "Visits" })).body;
  const keys = `/v1/projects/${project.id}/keys`;
  const [first, second] = [
    (await call(server, "POST", keys, { kind: "secret" })).body,
    (await call(server, "POST", keys, { kind: "secret" })).body,
  ];
  await using load = new Load(() => server.url, { clients: 2, eventsPerBatch: 5, pauseMs: 20 });
  load.start();
  await visit(server, first.key, 1);
  assert.equal(await post(server, second.key, {}), "200");
  const before = load.acknowledged.size;
  Deno.kill(server.pid, "SIGUSR2");
  await until(10_000, () => Promise.resolve(load.acknowledged.size > before + 100), "load goes on");
  await visit(server, first.key, 2);
  // Keys come and go as ever.
  const made = (await call(server, "POST", keys, { kind: "secret" })).body;
  assert.equal(await post(server, made.key, {}), "200");
  assert.equal((await call(server, "DELETE", `${keys}/${second.id}`)).status, 204);
  await until(
    5_000,
    async () => await post(server, second.key, {}) === "403 revoked_api_key",
    "the revocation holds",
  );
  const range = `from=${new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)}&to=${
    new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
  }`;
  // Under load events may be pending for longer than one read waits.
  const read = () => call(server, "GET", `/v1/kpis?project=${project.id}&${range}&bots=include`);
  await until(20_000, async () => (await read()).body.pending === 0, "all is counted");
  const kpis = await read();
  assert.equal(kpis.status, 200);
  assert.equal(kpis.body.totals.pageviews, 2);
  await load.finish();
  assert.equal(await server.stop(), 0);
  assert.doesNotMatch(server.errorOutput, /unexpected failure/);
  const sql = await db.open();
  await sql.query("DELETE FROM journal WHERE project_id <> (SELECT min(project_id) FROM projects)");
  await assertStored(sql, load);
});
