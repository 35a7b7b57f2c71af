import type { EventRow } from "./event_row.ts";
import { ID_BYTES } from "./id_codec.ts";
import type { IntegerColumn } from "./integer_codec.ts";
import {
  FLAG_CODES,
  FLAG_COLUMNS,
  type IntegerName,
  keyOf,
  NUMBER_COLUMNS,
  TEXT_COLUMNS,
} from "./segment_columns.ts";
import type { SegmentEvent } from "./segment_event.ts";
import type { SegmentReader } from "./segment_reader.ts";
import type { TextColumn } from "./text_codec.ts";
import type { Yield } from "./yielding.ts";

const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });
const UUID = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;

/** The text of a value of a column. */
export function textAt({ ends, bytes }: TextColumn, value: number): string {
  return UTF8.decode(bytes.subarray(ends[value - 1] ?? 0, ends[value]!));
}

/** Tells the text of an event, each text made once. */
function texts(column: TextColumn): (at: number) => string | null {
  const known: string[] = [];
  return (at) => {
    const code = column.codes[at]!;
    return code === 0 ? null : known[code] ??= textAt(column, code - 1);
  };
}

function flagOf(code: number): boolean | null {
  return code === FLAG_CODES.none ? null : code === FLAG_CODES.yes;
}

/** An id of 16 bytes as text. */
export function uuidOf(ids: Uint8Array, at = 0): string {
  return ids.subarray(at, at + ID_BYTES).toHex().replace(UUID, "$1-$2-$3-$4-$5");
}

/** As `readRows`, in steps of a column each, between which others may have their turn. */
function* rowReader(
  reader: SegmentReader,
  projectId: number,
  moments: Float64Array,
  ids: Uint8Array,
): Generator<void, (at: number) => EventRow> {
  const keys = new Map<IntegerName, Int32Array>();
  const keysOf = (name: IntegerName | null) => {
    if (name !== null && !keys.has(name)) keys.set(name, new Int32Array(reader.integers(name)));
    return name === null ? undefined : keys.get(name);
  };
  const textColumns: [string, (at: number) => string | null][] = [];
  for (const name of TEXT_COLUMNS) {
    textColumns.push([name, texts(reader.texts(name, keysOf(keyOf(name))))]);
    yield;
  }
  const numberColumns: [string, Float64Array][] = [];
  for (const name of NUMBER_COLUMNS) {
    numberColumns.push([name, reader.numbers(name)]);
    yield;
  }
  const flagColumns = FLAG_COLUMNS.map((name) => [name, reader.integers(name)] as const);
  return (at) => {
    const row: Record<string, unknown> = { project_id: projectId };
    for (const [name, column] of numberColumns) {
      const value = column[at]!;
      row[name] = Number.isNaN(value) ? null : value;
    }
    for (const [name, text] of textColumns) row[name] = text(at);
    for (const [name, column] of flagColumns) row[name] = flagOf(column[at]!);
    const ms = moments[at]!;
    row.event_id = uuidOf(ids, ID_BYTES * at);
    row.occurred_at = new Date(ms).toISOString();
    row.received_at = new Date(ms + (row.received_at as number)).toISOString();
    row.sent_at = row.sent_at === null
      ? null
      : new Date(ms + (row.sent_at as number)).toISOString();
    return row as unknown as EventRow;
  };
}

/** Gives the events of some blocks back as they were stored, each by its place in these blocks. */
export function readRows(
  reader: SegmentReader,
  projectId: number,
  moments = reader.moments(),
  ids = reader.ids(moments),
): (at: number) => EventRow {
  const steps = rowReader(reader, projectId, moments, ids);
  for (let step = steps.next();; step = steps.next()) if (step.done) return step.value;
}

/** The same while others have their turns. */
export async function readRowsInTurns(
  reader: SegmentReader,
  projectId: number,
  pause: Yield,
): Promise<(at: number) => EventRow> {
  const moments = reader.moments();
  const steps = rowReader(reader, projectId, moments, reader.ids(moments));
  for (let step = steps.next();; step = steps.next()) {
    if (step.done) return step.value;
    await pause();
  }
}

/** Whole events of these identities; without a set, all of them. In the order of the segment. */
export function readEvents(
  reader: SegmentReader,
  projectId: number,
  identities?: ReadonlySet<number>,
): SegmentEvent[] {
  const moments = reader.moments();
  const ids = reader.ids(moments);
  const rowAt = readRows(reader, projectId, moments, ids);
  const [names, paths, contexts, traffics, titles, referrers] = ([
    ...["names", "paths", "contexts", "traffics", "titles", "referrers"],
  ] as IntegerName[]).map((name) => reader.integers(name)) as [
    ...[IntegerColumn, IntegerColumn, IntegerColumn, IntegerColumn, IntegerColumn, IntegerColumn],
  ];
  const runs = reader.runs();
  const events: SegmentEvent[] = [];
  for (const [run, identity] of runs.identities.entries()) {
    if (identities !== undefined && !identities.has(identity)) continue;
    for (let at = runs.starts[run]!; at < runs.starts[run + 1]!; at++) {
      events.push({
        identity,
        ms: moments[at]!,
        id: ids.subarray(ID_BYTES * at, ID_BYTES * (at + 1)),
        name: names[at]!,
        path: paths[at]!,
        context: contexts[at]!,
        traffic: traffics[at]!,
        title: titles[at]!,
        referrer: referrers[at]!,
        row: rowAt(at),
      });
    }
  }
  return events;
}
