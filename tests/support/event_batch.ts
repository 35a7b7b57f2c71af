import { EventColumns } from "../../src/store/event_columns.ts";
import type { EventBatch } from "../../src/store/batch_columns.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { compareIds } from "../../src/store/id_codec.ts";
import type { BlockColumns, BlockValues } from "../../src/store/journal_events.ts";
import type { SegmentEvent } from "./segment_events.ts";

/** Rows as a block holds them whose columns have nothing in common. */
function asBlock(rows: readonly EventRow[]): BlockColumns {
  const names = Object.keys(rows[0] ?? {}).filter((name) => name !== "project_id");
  const coded = names.filter((name) => name !== "event_id").map(
    (name): [string, BlockValues] => {
      const values = rows.map((row) => row[name as keyof EventRow]);
      return [name, { values, which: null, at: (place) => values[place]! }];
    },
  );
  const eventIds = rows.map((row) => row.event_id);
  const ids = Uint8Array.fromHex(eventIds.join("").replaceAll("-", ""));
  return { events: rows.length, ids, same: {}, coded: Object.fromEntries(coded) };
}

export function columnsOf(rows: readonly EventRow[]): EventColumns {
  const columns = new EventColumns(rows[0]?.project_id ?? 1);
  columns.add(asBlock(rows), Int32Array.from(rows.keys()));
  return columns;
}

/** Whole events as a batch, in the order in which they are given. */
export function batchOf(events: readonly SegmentEvent[]): EventBatch {
  const numbers = (of: (event: SegmentEvent) => number) => Int32Array.from(events, of);
  const ids = new Uint8Array(16 * events.length);
  for (const [i, { id }] of events.entries()) ids.set(id, 16 * i);
  return {
    columns: columnsOf(events.map(({ row }) => row)),
    identities: numbers(({ identity }) => identity),
    moments: Float64Array.from(events, ({ ms }) => ms),
    ids,
    numbers: {
      names: numbers(({ name }) => name),
      paths: numbers(({ path }) => path),
      contexts: numbers(({ context }) => context),
      traffics: numbers(({ traffic }) => traffic),
      titles: numbers(({ title }) => title),
      referrers: numbers(({ referrer }) => referrer),
    },
  };
}

/** The order of a segment. */
export function compareEvents(a: SegmentEvent, b: SegmentEvent): number {
  return a.identity - b.identity || a.ms - b.ms || compareIds(a.id, 0, b.id, 0);
}
