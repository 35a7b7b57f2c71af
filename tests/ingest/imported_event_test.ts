import assert from "node:assert/strict";
import fc from "fast-check";
import { suspicionOf } from "../../src/ingest/event_schema.ts";
import { IMPORT_EVENT_BYTES_MAX } from "../../src/ingest/import_limits.ts";
import { enricher } from "../../src/ingest/pipeline.ts";
import { readLine } from "../../src/ingest/imported_event.ts";
import { createAgentReader } from "../../src/ingest/user_agent.ts";
import { createVisitorHasher } from "../../src/ingest/visitor_hash.ts";
import { parseJson } from "../../src/json_text.ts";
import { shownEvent } from "../../src/reports/shown/shown_event.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { encodeBlock } from "../../src/store/journal_block.ts";
import { decodeBlock } from "../../src/store/journal_events.ts";
import { newRow } from "../support/event_rows.ts";
import { COLUMNS, FULL_EVENTS, ingested, SENT_EVENT } from "./odd_events.ts";

const TOOLS = {
  readAgent: createAgentReader(),
  geo: {
    description: "two places",
    locate: (ip: string | null) =>
      ip === "8.8.8.8"
        ? { country: "US", region: null, city: null }
        : ip === "84.138.30.31"
        ? { country: "DE", region: "Nordrhein-Westfalen", city: "Köln" }
        : null,
  },
  hasher: createVisitorHasher(() => Promise.resolve(new Uint8Array(32))),
};
const ARRIVAL = {
  projectId: 7,
  projectPublicId: "prj_x",
  receivedAtMs: Date.parse("2027-03-01T00:00:00Z"),
  clockOffsetMs: 0,
  ip: null,
  userAgent: null,
  fromBackend: true,
  ipStorage: "full" as const,
};

/** The row that an import makes of a line. */
async function imported(line: string): Promise<EventRow> {
  const enriching = enricher(ARRIVAL, TOOLS);
  const { input, stated } = readLine(parseJson(line), suspicionOf(line), ARRIVAL.receivedAtMs);
  const row = enriching.rowOf(input);
  await enriching.complete();
  return Object.assign(row, stated);
}

function assertSame(found: EventRow, row: EventRow): void {
  const members = (of: EventRow) => Object.fromEntries(COLUMNS.map((name) => [name, of[name]]));
  assert.deepEqual(members(found), members(row));
}

Deno.test("the shown form of an event restores every column, however odd", async () => {
  const filled = new Set<string>();
  const empty = newRow({ located: false });
  let seen = 0;
  await fc.assert(
    fc.asyncProperty(SENT_EVENT, async (sent) => {
      const made = await ingested(sent, TOOLS);
      if (made === null) return;
      seen++;
      // As the journal gives it back.
      const [row] = decodeBlock(encodeBlock([made]), 7);
      for (const name of COLUMNS) if (row![name] !== empty[name]) filled.add(name);
      assertSame(await imported(JSON.stringify(shownEvent(row!))), row!);
    }),
    { numRuns: 2_000, examples: FULL_EVENTS.map((sent) => [sent]) },
  );
  assert.ok(seen > 500, `${seen} events were none that ingestion refuses`);
  // A column that no event of these has would be compared in vain.
  assert.deepEqual(COLUMNS.filter((name) => !filled.has(name)), []);
});

const SERVER = {
  ip: "203.0.113.9",
  hash: "AAECAwQFBgcICQoLDA0ODw",
  geo: { country: "DE", region: "Berlin", city: null },
  browser: "Chrome",
  os: "Linux",
  device: "tablet",
  bot: true,
  ingestedAt: "2026-11-21T12:00:00.000Z",
};
const PLAIN = { size: true, text: false };
const ID = "01a1ff0c-e740-7995-94c8-0d06982a1515";
const lineOf = (members: Record<string, unknown>) =>
  JSON.stringify({ eventId: ID, name: "x", ...members });

Deno.test("a line states some columns, and the others are derived from its context or stay unknown", async () => {
  const row = await imported(lineOf({ server: SERVER, timestamp: "2026-11-01T00:00:00Z" }));
  const { ip, located, country, region, city, browser, os, device, bot } = row;
  assert.deepEqual({ ip, located, country, region, city, browser, os, device, bot }, {
    ...{ ip: "203.0.113.9", located: true, country: "DE", region: "Berlin", city: null },
    ...{ browser: "Chrome", os: "Linux", device: "t", bot: true },
  });
  assert.equal(row.visitor_hash, "\\x000102030405060708090a0b0c0d0e0f");
  assert.equal(row.received_at, SERVER.ingestedAt);
  assert.equal(row.clock, "c");
  assert.equal(row.in_session, true);

  const context = { ip: "8.8.8.8", userAgent: "Googlebot/2.1" };
  const half = await imported(lineOf({ server: { browser: "Mine" }, context }));
  assert.deepEqual([half.browser, half.ip, half.country, half.bot], [
    "Mine",
    "8.8.8.8",
    "US",
    true,
  ]);
  const none = await imported(lineOf({ server: {} }));
  assert.deepEqual([none.ip, none.located, none.bot, none.clock], [null, false, null, "r"]);
});

Deno.test("a line without server is an event as clients send it, whatever else it says", async () => {
  const members = { clock: "corrected", browser: "Mine", inSession: false, extra: { a: 1 } };
  const row = await imported(lineOf({ ...members, server: "a text", campaign: { source: "x" } }));
  assert.deepEqual([row.browser, row.in_session, row.utm_source], [null, true, null]);
  assert.deepEqual(JSON.parse(row.extra!), {
    ...members,
    server: "a text",
    campaign: { source: "x" },
  });
  assert.equal((await imported(lineOf({ properties: { $session: false } }))).in_session, false);
  assert.equal((await imported(lineOf({ name: "$identify" }))).in_session, false);
});

Deno.test("an export of an earlier version is imported unchanged too", async () => {
  const { browser, os, device, bot, ...found } = SERVER;
  const earlier = {
    ...{ timestamp: "2026-11-01T00:00:00.000Z", clock: "corrected", inSession: false },
    ...{ browser, os, device, bot, extra: null },
    campaign: { source: "news", clickId: "gclid" },
    properties: { plan: "pro", server: found },
  };
  const row = await imported(lineOf(earlier));
  assert.deepEqual([row.browser, row.device, row.bot, row.clock], ["Chrome", "t", true, "x"]);
  assert.deepEqual([row.utm_source, row.click_id_kind, row.in_session], ["news", "gclid", false]);
  assert.equal(row.properties, '{"plan":"pro"}');
  assert.equal(row.extra, null);
});

Deno.test("what a line states is checked, and mistakes are named by their place", () => {
  const refused = (members: Record<string, unknown>, code: string, field: string) =>
    assert.throws(
      () => {
        const line = lineOf(members);
        readLine(parseJson(line), suspicionOf(line), ARRIVAL.receivedAtMs);
      },
      { name: "RejectedEvent", code, field },
      JSON.stringify(members).slice(0, 200),
    );
  const server = (members: Record<string, unknown>) => ({ server: { ...SERVER, ...members } });
  refused(server({ ip: "1.2.3" }), "invalid_address", "server.ip");
  refused(server({ hash: "short" }), "invalid_type", "server.hash");
  refused(server({ geo: "DE" }), "invalid_type", "server.geo");
  refused(server({ geo: { country: 5 } }), "invalid_type", "server.geo.country");
  refused(server({ device: "phone" }), "invalid_type", "server.device");
  refused(server({ bot: "no" }), "invalid_type", "server.bot");
  refused(server({ browser: "x".repeat(1_001) }), "too_long", "server.browser");
  readLine(parseJson(lineOf(server({ browser: "x".repeat(1_000) }))), PLAIN, 0);
  refused(server({ os: "a\0" }), "invalid_text", "server.os");
  refused(server({ ingestedAt: "yesterday" }), "invalid_timestamp", "server.ingestedAt");
  refused({ ...server({}), clock: "sundial" }, "invalid_type", "clock");
  refused({ ...server({}), clock: "client" }, "invalid_timestamp", "timestamp");
  const untimed = parseJson(lineOf({ ...server({}), clock: "client" }));
  assert.throws(() => readLine(untimed, PLAIN, 0), /^RejectedEvent: The time is missing/);
  const late = new Date(ARRIVAL.receivedAtMs + 86_400_001).toISOString();
  refused({ ...server({}), clock: "client", timestamp: late }, "invalid_timestamp", "timestamp");
  refused({ ...server({}), sentTimestamp: {} }, "invalid_timestamp", "sentTimestamp");
  refused({ ...server({}), campaign: { term: 1 } }, "invalid_type", "campaign.term");
  refused({ ...server({}), inSession: 1 }, "invalid_type", "inSession");
  refused({ ...server({}), extra: [] }, "invalid_type", "extra");
  refused({ ...server({}), name: 5 }, "invalid_type", "name");
});

Deno.test("an event may be larger than a client's by what an export adds, and no larger", () => {
  const event = { eventId: ID, name: "x", own: "" };
  const room = IMPORT_EVENT_BYTES_MAX - JSON.stringify(event).length;
  const read = (own: string) => readLine({ ...event, own, server: SERVER }, PLAIN, 0);
  assert.equal(read("o".repeat(room)).input.extra?.own, "o".repeat(room));
  assert.throws(() => read("o".repeat(room + 1)), { code: "event_too_large" });
  const extra = (length: number) => ({ own: "o".repeat(length - '{"own":""}'.length) });
  const beside = (length: number) =>
    readLine({ eventId: ID, extra: extra(length), server: SERVER }, PLAIN, 0);
  beside(IMPORT_EVENT_BYTES_MAX);
  assert.throws(() => beside(IMPORT_EVENT_BYTES_MAX + 1), { code: "event_too_large" });
});
