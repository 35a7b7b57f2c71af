import type { Sql } from "../../src/db/sql.ts";
import { columnText } from "../../src/histories/column.ts";
import type { Histories } from "../../src/histories/histories.ts";
import {
  type LoadedSegment,
  loadedSegment as segmentAsLoaded,
} from "../../src/histories/loaded_segment.ts";
import {
  type HistoryEvent,
  ID_BYTES,
  type Segment,
  segmentOf,
} from "../../src/histories/segment.ts";
import {
  SEGMENT_COLUMNS,
  type SegmentColumns,
  SELDOM_COLUMNS,
} from "../../src/histories/stored_segment.ts";

/** An event that nothing else is told of; its name is its number. */
export interface Told {
  readonly identity: number;
  readonly ms: number;
  readonly number: number;
  readonly id: Uint8Array;
}

/** Ids whose order says nothing of the events' other order. */
export function idOf(number: number): Uint8Array {
  const id = new Uint8Array(ID_BYTES);
  new DataView(id.buffer).setUint32(12, Math.imul(number, 2_654_435_761) >>> 0);
  return id;
}

export function told(identity: number, ms: number, number: number): Told {
  return { identity, ms, number, id: idOf(number) };
}

/** The order of an actor's events. */
export function compareTold(a: Told, b: Told): number {
  return a.ms - b.ms || (a.id.toHex() < b.id.toHex() ? -1 : 1);
}

export function segmentOfTold(events: readonly Told[]): Segment | null {
  const sorted = events.toSorted((a, b) => a.identity - b.identity || compareTold(a, b));
  return segmentOf(sorted.map(({ identity, ms, number, id }): HistoryEvent => ({
    identity,
    ms,
    id,
    name: number,
    path: 0,
    context: 1,
    traffic: 1,
    title: 0,
    referrer: 0,
    depth: NaN,
    properties: null,
  })));
}

/** Those that are not empty. */
export function segmentsOf(groups: readonly (readonly Told[])[]): Segment[] {
  return groups.map(segmentOfTold).filter((segment) => segment !== null);
}

/** A segment as reads follow it where they ask nothing of properties. */
export function loadedSegment(segment: Segment, segmentId: number): LoadedSegment {
  const columns = Object.fromEntries(SEGMENT_COLUMNS.map((name) => [name, segment[name]]));
  const { fromMs, toMs } = segment;
  return segmentAsLoaded(segmentId, { ...columns, fromMs, toMs } as unknown as SegmentColumns);
}

/** Segments in the order of their first event, each identity its own actor unless it is linked. */
export function historiesOf(
  segments: readonly Segment[],
  links: ReadonlyMap<number, number>,
): Histories {
  const last = Math.max(
    0,
    ...links.keys(),
    ...links.values(),
    ...segments.flatMap(({ identities }) => [...identities]),
  );
  return {
    projectId: 1,
    segments: segments.map((segment, i) => loadedSegment(segment, i + 1))
      .toSorted((a, b) => a.fromMs - b.fromMs),
    actorOf: Int32Array.from({ length: last + 1 }, (_, i) => links.get(i) ?? i),
    runs: (find) => find(),
  };
}

/** Stores a segment as it is, of whatever size. */
export async function storeSegment(sql: Sql, projectId: number, segment: Segment): Promise<void> {
  const { fromMs, toMs, times, ids, propertied, textEnds, texts } = segment;
  const columns = {
    ...Object.fromEntries(SEGMENT_COLUMNS.map((name) => [name, columnText(segment[name])])),
    ...Object.fromEntries(SELDOM_COLUMNS.map((name) => [name, columnText(segment[name])])),
    ids: ids.toBase64(),
    propertied: columnText(propertied),
    text_ends: columnText(textEnds),
    texts: texts.toBase64(),
  };
  const names = Object.keys(columns);
  const decoded = names.map((_, i) => `decode($${i + 5}::text, 'base64')`);
  await sql.query(
    `INSERT INTO history_segments (project_id, from_ms, to_ms, events, ${names})
    VALUES ($1::int, $2::int8, $3::int8, $4::int, ${decoded})`,
    [projectId, fromMs, toMs, times.length, ...Object.values(columns)],
  );
}
