/** Reads of a replica: what was stored before they were asked is in them, or is told as pending. */
import assert from "node:assert/strict";
import { openPostgres } from "../../src/db/postgres.ts";
import type { Sql } from "../../src/db/sql.ts";
import {
  API_KEY,
  operatorToken,
  pause,
  ServerProcess,
  startServer,
  until,
  within,
} from "../support/server_process.ts";
import {
  freshDatabase,
  startReplica,
  type ThrowawayPostgres,
} from "../support/throwaway_postgres.ts";
import { onPostgres, type OwnPostgres } from "./on_postgres.ts";

const BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const VIEWS = 4;
const FOREIGN = /DATABASE_READ_URL names the database of another installation/;

async function postViews(url: string, key: string): Promise<void> {
  const events = Array.from({ length: VIEWS }, () => ({
    eventId: crypto.randomUUID(),
    anonymousId: crypto.randomUUID(),
    name: "page_view",
    path: "/",
  }));
  const headers = { "X-API-Key": key, "User-Agent": BROWSER };
  const body = JSON.stringify({ events });
  const reply = await fetch(`${url}/v1/events`, { method: "POST", headers, body });
  assert.equal((await reply.json()).accepted, VIEWS);
}

// Tests look into replies of every shape.
// deno-lint-ignore no-explicit-any
async function ask(url: string, path: string, posted?: unknown): Promise<any> {
  const reply = await fetch(url + path, {
    headers: {
      "Authorization": `Bearer ${await operatorToken()}`,
      "Content-Type": "application/json",
    },
    ...(posted === undefined ? {} : { method: "POST", body: JSON.stringify(posted) }),
  });
  const body = await reply.json();
  assert(reply.ok, JSON.stringify(body));
  return body;
}

/** Saves a segment that the replica does not have yet as an export by it begins. */
async function exportBySegment(url: string, project: string, sql: Sql): Promise<void> {
  const headers = {
    "Authorization": `Bearer ${await operatorToken()}`,
    "Content-Type": "application/json",
    "Accept": "application/x-ndjson",
  };
  const body = JSON.stringify({ title: "All", filters: [] });
  await sql.query("SELECT pg_wal_replay_pause()");
  const saved = `${url}/v1/segments/all?project=${project}`;
  const { status } = await fetch(saved, { method: "PUT", headers, body });
  assert.equal(status, 201);
  const exporting = fetch(`${url}/v1/events?project=${project}&segment=all`, { headers });
  await pause(300);
  await sql.query("SELECT pg_wal_replay_resume()");
  const reply = await exporting;
  const text = await reply.text();
  assert.deepEqual([reply.status, text.trim().split("\n").length], [200, VIEWS], text);
}

/** What a read of one day's key figures is answered with while there is no replica to ask. */
async function askRefused(
  url: string,
  accept = "application/json",
  why = /^The replica that answers reads is away, or behind;/,
) {
  const path = accept === "application/json" ? "kpis" : "events";
  const reply = await fetch(`${url}/v1/${path}?project=prj_default`, {
    headers: { "Authorization": `Bearer ${await operatorToken()}`, "Accept": accept },
  });
  const { code, detail } = await reply.json();
  assert.deepEqual([reply.status, code], [503, "database_unavailable"]);
  assert.match(detail, why);
  assert.ok(reply.headers.has("retry-after"));
}

/** What /metrics tells of the replica. */
async function toldStatus(url: string): Promise<string | undefined> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return /^footfall_replica_status (.*)$/m.exec(text)?.[1];
}

/** A server that reads from a standby, and a connection to that. */
async function withReplica(
  { cluster, env }: OwnPostgres,
  work: (server: ServerProcess, sql: Sql, replica: ThrowawayPostgres) => Promise<void>,
): Promise<void> {
  const replica = await startReplica(cluster);
  const readUrl = new URL(env.DATABASE_URL!);
  readUrl.port = String(replica.port);
  const options = { connectionsMax: 1, statementTimeoutMs: 15_000, applicationName: "tests" };
  const sql = openPostgres(readUrl.href, options);
  try {
    await using server = new ServerProcess({ ...env, DATABASE_READ_URL: readUrl.href });
    await server.ready();
    await work(server, sql, replica);
    assert.equal(await server.stop(), 0);
  } finally {
    await sql.close();
    await replica.remove();
  }
}

async function newProject(url: string): Promise<{ id: string; key: string }> {
  const { id } = await ask(url, "/v1/projects", { name: "Shop" });
  return { id, key: (await ask(url, `/v1/projects/${id}/keys`, { kind: "public" })).key };
}

onPostgres(
  "replica: reads wait for it, and tell what it lacks as pending",
  (postgres) =>
    withReplica(postgres, async (server, sql) => {
      for (let times = 1; times <= 5; times++) {
        await postViews(server.url, API_KEY);
        await until(20_000, async () => {
          // A slow machine may not have counted all of it within the second.
          const { totals, pending } = await ask(server.url, "/v1/kpis?project=prj_default");
          assert.equal(totals.pageviews + pending, times * VIEWS);
          return pending === 0;
        }, "all is counted");
      }
      const made = await newProject(server.url);
      assert.equal((await ask(server.url, `/v1/kpis?project=${made.id}`)).pending, 0);

      assert.equal(await toldStatus(server.url), "0");
      await sql.query("SELECT pg_wal_replay_pause()");
      const later = await newProject(server.url);
      for (const { key } of [made, later]) await postViews(server.url, key);
      const reads = ["kpis?", "overview?", "events?", "events?after=2026-01-01T00:00:00Z&"];
      for (const read of reads.map((path) => `/v1/${path}project=${later.id}`)) {
        assert.equal((await ask(server.url, read)).pending, VIEWS, read);
      }
      assert.equal((await ask(server.url, `/v1/kpis?project=${made.id}`)).pending, VIEWS);
      assert.equal(await toldStatus(server.url), "1");
      await sql.query("SELECT pg_wal_replay_resume()");
      await until(20_000, async () => {
        const { totals } = await ask(server.url, `/v1/kpis?project=${later.id}`);
        return totals.pageviews === VIEWS;
      }, "the replica has all of it");
      await exportBySegment(server.url, later.id, sql);
    }),
);

/** As many as one project has at once. */
const READS_AT_ONCE = 4;

onPostgres(
  "replica: while all reads wait for something there, it is not said to be away",
  (postgres) =>
    withReplica(postgres, async (server, sql) => {
      await postViews(server.url, API_KEY);
      const told = () => ask(server.url, "/v1/kpis?project=prj_default");
      await until(20_000, async () => (await told()).pending === 0, "all is counted");
      const primary = postgres.open();
      let reads: Promise<unknown>[] = [];
      try {
        await primary.transaction(async (tx) => {
          await tx.query("LOCK TABLE projections IN ACCESS EXCLUSIVE MODE");
          await tx.query("SELECT pg_switch_wal()");
          const held = "SELECT FROM pg_locks WHERE relation = 'projections'::regclass";
          await until(20_000, async () => (await sql.query(held)).length > 0, "it is locked there");
          reads = Array.from({ length: READS_AT_ONCE }, told);
          const waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
          const allWait = async () => (await sql.query(waiting)).length === READS_AT_ONCE;
          await until(20_000, allWait, "all reads wait");
          assert.equal((await ask(server.url, "/readyz")).status, "ready");
        });
        await Promise.all(reads);
      } finally {
        await Promise.allSettled(reads);
        await primary.close();
      }
    }),
);

/** Sooner than a read is given up (15 s), and later than a replica that hangs. */
const REFUSED_MS_MAX = 12_000;

onPostgres(
  "replica: one that hangs is not waited for as long as a read may take",
  (postgres) =>
    withReplica(postgres, async (server, sql, replica) => {
      await ask(server.url, "/v1/kpis?project=prj_default");
      const backends = await sql.query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'footfall'",
      );
      const pids = [replica.pid, ...backends.map(({ pid }) => pid)];
      for (const pid of pids) Deno.kill(pid, "SIGSTOP");
      try {
        for (let times = 0; times < 3; times++) {
          await within(REFUSED_MS_MAX, askRefused(server.url), "Refusing a read");
        }
      } finally {
        for (const pid of pids) Deno.kill(pid, "SIGCONT");
      }
      const path = `${server.url}/v1/kpis?project=prj_default`;
      const headers = { "Authorization": `Bearer ${await operatorToken()}` };
      const answers = async () => {
        const reply = await fetch(path, { headers });
        await reply.body?.cancel();
        return reply.ok;
      };
      await until(20_000, answers, "reads are answered again");
    }),
);

onPostgres(
  "replica: one that was promoted tells what it lacks",
  (postgres) =>
    withReplica(postgres, async (server, sql) => {
      await postViews(server.url, API_KEY);
      const told = () => ask(server.url, "/v1/kpis?project=prj_default");
      await until(20_000, async () => (await told()).totals.pageviews === VIEWS, "all is counted");
      await sql.query("SELECT pg_promote()");
      assert.equal((await told()).pending, 0);
      await postViews(server.url, API_KEY);
      const { totals, pending } = await told();
      assert.deepEqual([totals.pageviews, pending], [VIEWS, VIEWS]);
      await askRefused(server.url, "application/x-ndjson");
      assert.equal(await toldStatus(server.url), "1");
    }),
);

onPostgres(
  "replica: one that is away, or none at all, is named where servers look",
  async (postgres) => {
    const written = new URL(postgres.env.DATABASE_URL!);
    const [other, closed] = [new URL(written), new URL(written)];
    other.pathname = "/postgres";
    closed.port = "1";
    for (const readUrl of [other, closed]) {
      const env = { ...postgres.env, DATABASE_READ_URL: readUrl.href };
      await using server = new ServerProcess(env);
      await server.ready();
      const { status, checks } = await ask(server.url, "/readyz");
      assert.deepEqual([status, checks.replica.ok, checks.database.ok], ["degraded", false, true]);
      assert.match(checks.replica.message, /DATABASE_READ_URL/);
      assert.equal(await toldStatus(server.url), "2");
      await postViews(server.url, API_KEY);
      await askRefused(server.url);
      assert.match(
        server.errorOutput,
        /The replica for reads, DATABASE_READ_URL, is not available/,
      );
      assert.equal(await server.stop(), 0);
    }
  },
);

onPostgres(
  "replica: another installation's database is refused, at start and later",
  async (postgres) => {
    const { url: otherUrl } = await freshDatabase(postgres.cluster);
    const env = { ...postgres.env, DATABASE_READ_URL: otherUrl };
    // Without tables yet it may be a replica that is to come.
    await using server = await startServer(env);
    const other = await startServer({ ...postgres.env, DATABASE_URL: otherUrl });
    assert.equal(await other.stop(), 0);
    await postViews(server.url, API_KEY);
    // Before anything else has found out: a picture is read like all else.
    const picture = `/v1/heatmaps/captures/cap_${"0".repeat(20)}?project=prj_default`;
    const headers = { "Authorization": `Bearer ${await operatorToken()}` };
    assert.equal((await fetch(server.url + picture, { headers })).status, 503);
    const { status, checks } = await ask(server.url, "/readyz");
    assert.equal(status, "degraded");
    assert.match(checks.replica.message, FOREIGN);
    assert.equal(await toldStatus(server.url), "2");
    await askRefused(server.url, "application/json", /see to DATABASE_READ_URL/);
    assert.equal(await server.stop(), 0);
    await using later = new ServerProcess(env);
    assert.equal(await later.ended(), 1);
    assert.match(later.errorOutput, FOREIGN);
  },
);
