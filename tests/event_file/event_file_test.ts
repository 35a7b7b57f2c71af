import assert from "node:assert/strict";
import { parquetReadObjects } from "hyparquet";
import { CSV_HEAD, csvLines, EVENT_COLUMNS } from "../../src/event_file/event_columns.ts";
import type { ExportedEvent } from "../../src/event_file/exported_event.ts";
import { EventLines } from "../../src/event_file/event_lines.ts";
import {
  ParquetFile,
  ROW_GROUP_BYTES_AIM,
  ROW_GROUP_EVENTS,
} from "../../src/event_file/parquet_file.ts";

const EVENT: ExportedEvent = {
  eventId: "01a1ff0c-e740-7995-94c8-0d06982a1515",
  name: "=cmd()",
  timestamp: "2026-11-21T16:59:58.144Z",
  sentTimestamp: null,
  clock: "client",
  anonymousId: null,
  userId: "ada 🦊",
  sessionId: null,
  url: null,
  path: '/a,b"\n',
  referrer: null,
  title: null,
  properties: {
    plan: { name: "pro", seats: [1, 2] },
    server: { ip: null, hash: "h", geo: null, ingestedAt: "2026-11-21T17:00:00.000Z" },
  },
  context: { viewport: { width: 10, height: null }, screen: null, locale: null, timezone: null },
  campaign: {
    source: "x",
    medium: null,
    campaign: null,
    term: null,
    content: null,
    clickId: null,
  },
  browser: null,
  os: null,
  device: null,
  bot: false,
  inSession: true,
  extra: null,
  server: {
    ip: null,
    hash: "h",
    geo: null,
    browser: null,
    os: null,
    device: null,
    bot: false,
    ingestedAt: "2026-11-21T17:00:00.000Z",
  },
};

const numbered = (i: number): ExportedEvent => ({
  ...EVENT,
  name: `event ${i % 7}`,
  userId: `u${i}`,
});

/** What another reader finds in the file. */
async function read(parts: readonly Uint8Array[]): Promise<Record<string, unknown>[]> {
  const file = await new Blob(parts.map((part) => part.slice())).arrayBuffer();
  return await parquetReadObjects({ file });
}

Deno.test("Parquet: another reader finds every column of an event as it was", async () => {
  const file = await ParquetFile.begin();
  const [found] = await read([file.add([EVENT], 1), file.end()]);
  assert.deepEqual(Object.keys(found!), EVENT_COLUMNS.map(({ name }) => name));
  const { timestamp, name, userId, path, title, bot, viewportWidth, viewportHeight } = found!;
  assert.deepEqual(timestamp, new Date(EVENT.timestamp));
  assert.deepEqual([name, userId, path, title], ["=cmd()", "ada 🦊", '/a,b"\n', null]);
  assert.deepEqual([bot, viewportWidth, viewportHeight], [false, 10, null]);
  assert.deepEqual(found!.properties, { plan: { name: "pro", seats: [1, 2] } });
});

Deno.test("Parquet: more events than a row group holds come out in their order", async () => {
  const events = Array.from({ length: 45_000 }, (_, i) => numbered(i));
  const file = await ParquetFile.begin();
  const parts: Uint8Array[] = [];
  for (let at = 0; at < events.length; at += 9_000) {
    parts.push(file.add(events.slice(at, at + 9_000), 1));
  }
  assert.ok(parts.filter(({ length }) => length > 0).length >= 2, "written as it goes");
  const found = await read([...parts, file.end()]);
  assert.deepEqual(found.map(({ userId }) => userId), events.map(({ userId }) => userId));
});

Deno.test("Parquet: a row group is written once its events are too many, or too large", async () => {
  const events = Array.from({ length: ROW_GROUP_EVENTS - 1 }, (_, i) => numbered(i));
  const many = await ParquetFile.begin();
  // What is written first is the file's begin.
  many.add([], 0);
  assert.equal(many.add(events, 1).length, 0);
  assert.ok(many.add([EVENT], 1).length > 0);
  const large = await ParquetFile.begin();
  large.add([], 0);
  assert.equal(large.add([EVENT], ROW_GROUP_BYTES_AIM - 1).length, 0);
  assert.ok(large.add([EVENT], 1).length > 0);
  assert.equal(large.add([EVENT], ROW_GROUP_BYTES_AIM - 1).length, 0, "it begins anew");
});

Deno.test("Parquet: a file without events can be read", async () => {
  const file = await ParquetFile.begin();
  assert.deepEqual(await read([file.end()]), []);
});

Deno.test("NDJSON that arrives in any pieces gives each event once", () => {
  const text = [0, 1, 2].map((i) => `${JSON.stringify({ ...EVENT, userId: `ü${i}` })}\n`).join("");
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 7, 500, bytes.length]) {
    const lines = new EventLines();
    const found: string[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      found.push(...lines.take(bytes.subarray(at, at + size)).map(({ userId }) => userId!));
    }
    assert.deepEqual(found, ["ü0", "ü1", "ü2"]);
  }
});

Deno.test("event lines: a key that is spelt with an escape is its own, whatever an event before had", () => {
  const keys = ["there\\", 'there"', "there\n", "there\t"];
  const text = keys.map((key) =>
    `${JSON.stringify({ eventId: "e", properties: { here: 1, [key]: 2 } })}\n`
  );
  const found = new EventLines().take(new TextEncoder().encode(text.join("")));
  assert.deepEqual(found.map(({ properties }) => Object.keys(properties)[1]), keys);
});

Deno.test("CSV: a name for each column, quotes where they are needed", () => {
  assert.ok(CSV_HEAD.startsWith("timestamp,name,path,"));
  assert.ok(csvLines([EVENT]).startsWith(`2026-11-21T16:59:58.144Z,'=cmd(),"/a,b""\n",`));
});
