import fc from "fast-check";
import { EVENT_COLUMN_TYPES, type EventRow } from "../../src/store/event_row.ts";
import { buildSegment, type EncodedSegment } from "../../src/store/segment_builder.ts";
import { type SlotRules, slotRules } from "../../src/store/property_keys.ts";
import type { ColumnName } from "../../src/store/segment_columns.ts";
import type { SegmentEvent } from "../support/segment_events.ts";
import { allBlocks, type Blocks, decodeHead, spanOf } from "../../src/store/segment_head.ts";
import { SegmentReader } from "../../src/store/segment_reader.ts";
import { partsOf } from "../../src/store/segment_tiers.ts";
import { batchOf, compareEvents } from "../support/event_batch.ts";

const SMALL = fc.integer({ min: 0, max: 3 });
const TEXT = fc.oneof(
  // A text may begin with what stands for the order of bytes elsewhere.
  fc.constantFrom("", "a", "ä", "\ufeffa", "/path", "\\x00"),
  fc.string({ unit: "grapheme", maxLength: 12 }),
);
const INT4 = fc.oneof(SMALL, fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }));
const FLOAT8 = fc.oneof(
  fc.integer({ min: 0, max: 10_000 }).map((n) => n / 10_000),
  fc.constantFrom(-0, 0, 1e300, 5e-324, 0.1 + 0.2),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const OF_TYPE: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  int4: INT4,
  float8: FLOAT8,
  bool: fc.boolean(),
  jsonb: fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 })
    .map((value) => JSON.stringify(value)),
};
const NEVER_NULL = new Set(["clock", "name", "visitor_hash", "located", "in_session"]);
const FROM_EVENT = ["project_id", "event_id", "occurred_at", "received_at", "sent_at"];

const MEMBERS = Object.fromEntries(
  Object.entries(EVENT_COLUMN_TYPES).filter(([name]) => !FROM_EVENT.includes(name))
    .map(([name, type]) => {
      const value = OF_TYPE[type] ?? TEXT;
      return [name, NEVER_NULL.has(name) ? value : fc.option(value, { freq: 2 })];
    }),
);

const MS = fc.oneof(
  fc.integer({ min: 1_700_000_000_000, max: 1_700_000_000_003 }),
  fc.integer({ min: 1_700_000_000_000 - 1e9, max: 1_700_000_000_000 + 1e9 }),
);
/** By their time, or of any bytes; few beginnings, so that bytes decide. */
const ID = fc.uint8Array({ minLength: 16, maxLength: 16 });

/** Any event that ingestion could make, whose numbers say nothing of its texts. */
const EVENT: fc.Arbitrary<SegmentEvent> = fc.record({
  identity: fc.integer({ min: 1, max: 5 }),
  ms: MS,
  id: ID,
  isTimed: fc.boolean(),
  name: fc.integer({ min: 1, max: 4 }),
  path: fc.oneof(SMALL, fc.integer({ min: 0, max: 100_000 })),
  context: fc.integer({ min: -200, max: 200 }),
  traffic: SMALL,
  title: SMALL,
  referrer: SMALL,
  lag: fc.oneof(SMALL, fc.integer({ min: -1e9, max: 1e11 })),
  skew: fc.option(fc.oneof(SMALL, fc.integer({ min: -1e12, max: 8e15 })), { freq: 2 }),
  members: fc.record(MEMBERS) as unknown as fc.Arbitrary<EventRow>,
}).map(({ lag, skew, members, isTimed, ...event }) => {
  const id = event.id.slice();
  if (isTimed) {
    new DataView(id.buffer).setBigUint64(0, BigInt(event.ms) << 16n | BigInt(id[7]!));
  }
  return { ...event, id, row: rowOf({ ...event, id }, lag, skew, members) };
});

function rowOf(
  { ms, id }: { ms: number; id: Uint8Array },
  lag: number,
  skew: number | null,
  members: EventRow,
) {
  const hex = id.toHex();
  return {
    ...members,
    project_id: 1,
    event_id: [[0, 8], [8, 12], [12, 16], [16, 20], [20, 32]].map(([a, b]) => hex.slice(a, b))
      .join("-"),
    occurred_at: new Date(ms).toISOString(),
    received_at: new Date(ms + lag).toISOString(),
    sent_at: skew === null ? null : new Date(ms + skew).toISOString(),
  };
}

/** Some of them, in any order; no two of one id. */
export const EVENTS = fc.uniqueArray(EVENT, {
  selector: ({ id }) => id.toHex(),
  minLength: 1,
  maxLength: 40,
  size: "max",
});

export function inOrder(events: readonly SegmentEvent[]): SegmentEvent[] {
  return events.toSorted(compareEvents);
}

/** Rules by which small segments have slots. @param slotEventsMin the events that a property must be on */
export function smallRules(slotEventsMin: number, known: readonly string[] = []): SlotRules {
  return { known: new Set(known), segmentEventsMin: 1, slotEventsMin };
}

/** A segment of these events. */
export async function segmentOf(
  events: readonly SegmentEvent[],
  rules = slotRules(),
): Promise<EncodedSegment> {
  const segment = await buildSegment(partsOf(batchOf(events)), () => true, async () => {}, rules);
  return segment!;
}

/** Reads these blocks of it; all of them, where none are named. */
export function readerOf({ head, body }: EncodedSegment, blocks?: Blocks): SegmentReader {
  const decoded = decodeHead(head);
  const own = blocks ?? allBlocks(decoded);
  return new SegmentReader(decoded, own, (column: ColumnName) => {
    const { from, bytes } = spanOf(decoded, column, own);
    return body.subarray(from, from + bytes);
  });
}
