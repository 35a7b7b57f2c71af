/**
 * A project that was exported and imported answers every read as before, to the last digit: from the
 * embedded engine to PostgreSQL, and from there back to the embedded one.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { TestApp, type TestProject } from "../support/app.ts";
import { onFreshEngines, onPostgres } from "../support/databases.ts";
import { SENT_EVENT } from "../ingest/odd_events.ts";
import { type DemoProject, type Fill, startDemoProject } from "./demo_project.ts";
import { SNAPSHOT_READS } from "./snapshot_reads.ts";

const LINES_PER_REQUEST = 500;
const ALWAYS = { from: "0001-01-01T00:00:00Z", to: "9999-12-31T00:00:00Z", bots: "include" };
/** Of the moment of the reply. */
const OF_NOW = new Set(["asOf", "tailCursor", "updatedAt"]);

async function exportedLines(server: TestApp, project: string): Promise<string[]> {
  const reply = await server.read(project, ALWAYS, { Accept: "application/x-ndjson" });
  assert.equal(reply.status, 200);
  return String(reply.body).trimEnd().split("\n");
}

async function importLines(server: TestApp, project: string, lines: readonly string[]) {
  for (let from = 0; from < lines.length; from += LINES_PER_REQUEST) {
    const sent = lines.slice(from, from + LINES_PER_REQUEST);
    const { status, body } = await server.fetch(`/v1/projects/${project}/import`, {
      method: "POST",
      headers: {
        "Authorization": `Bearer ${server.app.controlToken}`,
        "Content-Type": "application/x-ndjson",
      },
      body: sent.join("\n"),
    });
    assert.deepEqual([status, body], [200, {
      accepted: sent.length,
      duplicates: 0,
      rejected: [],
    }]);
  }
}

/** Without what is of the moment. */
function settled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(settled);
  if (value === null || typeof value !== "object") return value;
  const members = Object.entries(value).filter(([name]) => !OF_NOW.has(name));
  return Object.fromEntries(members.map(([name, member]) => [name, settled(member)]));
}

/** What is told of some people, of each kind of id. */
async function people(demo: DemoProject, lines: readonly string[]): Promise<unknown[]> {
  const events = lines.map((line) => JSON.parse(line));
  const ids = ["userId", "anonymousId"].flatMap((member) =>
    [...new Set(events.map((event) => event[member]))].filter((id) => id !== null).slice(0, 5)
  );
  assert.equal(ids.length, 10);
  return await Promise.all(ids.map((id) => demo.read(`actors/${encodeURIComponent(id)}`, {})));
}

/** All that a project of these events answers, and its export. */
async function filled(env: Record<string, string>, fill?: Fill) {
  const demo = await startDemoProject(env, fill);
  try {
    const lines = await exportedLines(demo.server, "prj_demo");
    const answers = new Map<string, unknown>();
    for (const { name, path, query } of SNAPSHOT_READS) {
      answers.set(name, settled(await demo.read(path, query)));
    }
    answers.set("people", await people(demo, lines));
    return { lines, answers };
  } finally {
    await demo.stop();
  }
}

type Filled = Awaited<ReturnType<typeof filled>>;

function assertSame(found: Filled, expected: Filled): void {
  assert.deepEqual(found.lines, expected.lines);
  for (const [name, answer] of expected.answers) {
    assert.deepEqual(found.answers.get(name), answer, name);
  }
}

/** An import has no order: lines come in another one than they were stored in. */
const importing = (lines: readonly string[]): Fill => (server, { id }) =>
  importLines(server, id, lines.toReversed());

onPostgres(
  "every read answers the same in a project that was moved, and back",
  async (_t, db) => {
    const sent = await filled({});
    const moved = await filled(db.env, importing(sent.lines));
    assertSame(moved, sent);
    assertSame(await filled({}, importing(moved.lines)), sent);
  },
);

/** Sends odd events with either key, one by one: some are refused, which is well. */
async function sendOddEvents(server: TestApp, project: TestProject, count: number) {
  for (const { event, arrival } of fc.sample(SENT_EVENT, { numRuns: count, seed: 16 })) {
    await server.post(project, [event], {
      key: arrival.fromBackend ? project.secretKey : project.publicKey,
      peer: arrival.ip,
      headers: arrival.userAgent === null ? {} : { "User-Agent": arrival.userAgent },
      envelope: { sentAt: Date.now() - arrival.clockOffsetMs },
    });
  }
}

onFreshEngines("odd events come back from their export as they were", async (_t, db) => {
  const server = await new TestApp(db.env).start();
  try {
    const project = await server.project();
    await sendOddEvents(server, project, 400);
    const lines = await exportedLines(server, project.id);
    assert.ok(lines.length > 100, `${lines.length} are stored`);
    const shown = lines.map((line) => JSON.parse(line));
    assert.ok(shown.some(({ sentTimestamp }) => sentTimestamp !== null));
    assert.ok(shown.some(({ timestamp }) => Date.parse(timestamp) < 0), "events of before 1970");
    const copy = await server.project();
    await importLines(server, copy.id, lines);
    assert.deepEqual(await exportedLines(server, copy.id), lines);
  } finally {
    await server.stop();
  }
});
