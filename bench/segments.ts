/** What segments take: bytes of each column, and processor time to make, read and merge them. In memory alone. */
import process from "node:process";
import { slotRules } from "../src/store/property_keys.ts";
import { buildSegment, type EncodedSegment } from "../src/store/segment_builder.ts";
import {
  COLUMNS,
  HOT_COLUMNS,
  kindOf,
  type NumberName,
  type TextName,
} from "../src/store/segment_columns.ts";
import type { IntegerName } from "../src/store/segment_columns.ts";
import type { EventRow } from "../src/store/event_row.ts";
import type { SegmentEvent } from "../tests/support/segment_events.ts";
import { allBlocks, decodeHead, spanOf } from "../src/store/segment_head.ts";
import { uuidOf } from "../src/store/id_codec.ts";
import { SegmentReader } from "../src/store/segment_reader.ts";
import { partsOf } from "../src/store/segment_tiers.ts";
import { batchOf } from "../tests/support/event_batch.ts";
import { seededRandom } from "./typical_events.ts";
import { typicalRows } from "./stored_rows.ts";

const EVENTS = Number(Deno.args[0] ?? 100_000);
const BATCH_EVENTS = 10;
const PARTS = 8;
const SPAN_MS = 14 * 86_400_000;
const SECONDS_BETWEEN = 40;

/** Numbers of texts, as the dictionaries give them out. */
class Numbers {
  readonly #known = new Map<string, number>();
  of(...texts: (string | boolean | null)[]): number {
    const key = JSON.stringify(texts);
    let number = this.#known.get(key);
    if (number === undefined) this.#known.set(key, number = this.#known.size + 1);
    return number;
  }
}

async function typicalSegmentEvents(): Promise<SegmentEvent[]> {
  const random = seededRandom(1);
  const [terms, contexts, traffics, referrers, identities] = Array.from(
    { length: 5 },
    () => new Numbers(),
  ) as [Numbers, Numbers, Numbers, Numbers, Numbers];
  for (const name of ["page_view", "click", "scroll"]) terms.of(name);
  const startMs = Date.now() - SPAN_MS;
  let batchMs = 0;
  const rows = await typicalRows(Math.ceil(EVENTS / BATCH_EVENTS), 1);
  return rows.map(({ row: typical }, i) => {
    if (i % BATCH_EVENTS === 0) batchMs = startMs + Math.floor(SPAN_MS * random());
    const ms = batchMs + Math.floor(1000 * SECONDS_BETWEEN * (i % BATCH_EVENTS + random()));
    // By its time, and random: version 7.
    const id = crypto.getRandomValues(new Uint8Array(16));
    id.set(Uint8Array.fromHex(ms.toString(16).padStart(12, "0")));
    id[6] = 0x70 | id[6]! & 0x0f;
    id[8] = 0x80 | id[8]! & 0x3f;
    const row: EventRow = {
      ...typical,
      event_id: uuidOf(id),
      occurred_at: new Date(ms).toISOString(),
      received_at: new Date(ms + 500 + Math.floor(5000 * random())).toISOString(),
    };
    const context = contexts.of(
      row.bot === true,
      ...[row.device, row.host, row.country, row.region, row.city, row.browser, row.os],
    );
    const traffic = traffics.of(
      ...[row.utm_source, row.utm_medium, row.utm_campaign, row.utm_term, row.utm_content],
      ...[row.click_id_kind, row.referrer, row.host],
    );
    return {
      identity: identities.of(row.user_id ?? row.anonymous_id),
      ms,
      id,
      name: terms.of(row.name),
      path: row.path === null ? 0 : terms.of(row.path),
      context: row.bot ? -context : context,
      traffic,
      title: row.title === null ? 0 : terms.of(row.title),
      referrer: row.referrer === null ? 0 : referrers.of(row.referrer, row.host),
      row,
    };
  });
}

function readerOf({ head, body }: EncodedSegment): SegmentReader {
  const decoded = decodeHead(head);
  const blocks = allBlocks(decoded);
  return new SegmentReader(decoded, blocks, (column) => {
    const { from, bytes } = spanOf(decoded, column, blocks);
    return body.subarray(from, from + bytes);
  });
}

async function timed<T>(label: string, events: number, work: () => T | Promise<T>): Promise<T> {
  const before = process.cpuUsage();
  const made = await work();
  const { user, system } = process.cpuUsage(before);
  const us = (user + system) / events;
  console.log(`${label.padEnd(28)} ${us.toFixed(3)} µs an event`);
  return made;
}

async function build(events: SegmentEvent[]): Promise<EncodedSegment> {
  return (await buildSegment(partsOf(batchOf(events)), () => true, async () => {}, slotRules()))!;
}

function read(reader: SegmentReader, names: readonly string[]): void {
  for (const name of names) {
    const kind = kindOf(name as IntegerName);
    if (kind === "integers") reader.integers(name as IntegerName);
    else if (kind === "numbers") reader.numbers(name as NumberName);
    else if (kind === "texts") reader.texts(name as TextName);
    else reader.ids();
  }
}

const events = await typicalSegmentEvents();
const parts = Array.from(
  { length: PARTS },
  (_, part) => events.filter((_, i) => Math.floor(i / BATCH_EVENTS) % PARTS === part),
);
await build(parts[0]!.slice());
const segments = await timed("make, in eight parts", events.length, async () => {
  const made: EncodedSegment[] = [];
  for (const part of parts) made.push(await build(part));
  return made;
});
const merge = async () =>
  (await buildSegment(segments.map(readerOf), () => true, async () => {}, slotRules()))!;
await merge();
const merged = await timed("merge eight into one", events.length, merge);
const reader = readerOf(merged);
for (let round = 0; round < 2; round++) {
  await timed("read hot columns", events.length, () => {
    read(reader, HOT_COLUMNS.slice(2));
    reader.runs();
  });
  for (const name of ["cells", "ids", "properties", "pointer_x", "selector"]) {
    await timed(`read ${name}`, events.length, () => read(reader, [name]));
  }
  await timed("read all columns", events.length, () => read(reader, COLUMNS));
}
const { head } = reader;
const blocks = allBlocks(head);
const sizes = COLUMNS.map((name) => [name, spanOf(head, name, blocks).bytes] as const)
  .filter(([, bytes]) => bytes > 0).sort(([, a], [, b]) => b - a);
for (const [name, bytes] of sizes) {
  console.log(`${name.padEnd(28)} ${(bytes / head.events).toFixed(3)} bytes an event`);
}
const all = merged.head.length + merged.body.length;
console.log(
  `${"directory".padEnd(28)} ${(merged.head.length / head.events).toFixed(3)} bytes an event`,
);
console.log(`${"all".padEnd(28)} ${(all / head.events).toFixed(2)} bytes an event`);
