import type { Sql } from "../db/sql.ts";
import type { EventRow } from "./event_row.ts";
import { ROW_COLUMNS } from "./segment_columns.ts";
import { SPAN_EVENTS_AIM } from "./store_limits.ts";
import { ALWAYS, eachFetched, type MsSpan, type WantedBlocks } from "./stored_segments.ts";
import { selectedBlocks } from "./timed_events.ts";
import { readRows } from "./whole_events.ts";
import { yielding } from "./yielding.ts";

/** Finds the blocks of all segments that hold events of these identities. */
export async function blocksOfIdentities(
  sql: Sql,
  projectId: number,
  identities: ReadonlySet<number>,
  { fromMs, toMs }: MsSpan = ALWAYS,
): Promise<WantedBlocks[]> {
  const selection = { identities, beforeMs: toMs };
  const candidates = await selectedBlocks(sql, projectId, selection, fromMs);
  const found: WantedBlocks[] = [];
  let next = 0;
  for await (const reader of eachFetched(sql, projectId, candidates, ["identities"])) {
    const candidate = candidates[next++]!;
    const isHeld = (identity: number) => identities.has(identity);
    if (reader.integers("identities").some(isHeld)) found.push(candidate);
  }
  return found;
}

/**
 * Returns all events of these identities in [fromMs, toMs), ordered by time and id. `sql` must read one
 * snapshot.
 */
export async function rowsOfIdentities(
  sql: Sql,
  projectId: number,
  identities: ReadonlySet<number>,
  span: MsSpan,
): Promise<EventRow[]> {
  const found: { ms: number; row: EventRow }[] = [];
  const yieldIfDue = yielding();
  const wanted = await blocksOfIdentities(sql, projectId, identities, span);
  const columns = ["identities", "runs", ...ROW_COLUMNS] as const;
  for await (const reader of eachFetched(sql, projectId, wanted, columns)) {
    const moments = reader.moments();
    const runs = reader.runs();
    const places: number[] = [];
    for (const [run, identity] of runs.identities.entries()) {
      if (!identities.has(identity)) continue;
      for (let at = runs.starts[run]!; at < runs.starts[run + 1]!; at++) {
        if (moments[at]! >= span.fromMs && moments[at]! < span.toMs) places.push(at);
      }
    }
    if (places.length === 0) continue;
    // Where all events are theirs, the decoders of whole columns are the quicker ones.
    const theirs = places.length === reader.events ? reader : reader.pick(Uint32Array.from(places));
    const rowAt = await readRows(theirs, projectId, yieldIfDue);
    for (const [i, place] of places.entries()) found.push({ ms: moments[place]!, row: rowAt(i) });
  }
  found.sort((a, b) => a.ms - b.ms || (a.row.event_id < b.row.event_id ? -1 : 1));
  return found.map(({ row }) => row);
}

/** When events happened. */
export interface Moments {
  readonly firstMs: number;
  readonly lastMs: number;
  /** In order, without overlaps; together they contain all of the events. */
  readonly spans: readonly MsSpan[];
}

/** A span with the number of events that begin in it. */
interface CountedSpan extends MsSpan {
  readonly events: number;
}

/**
 * Covers spans, ordered by their starts, with spans of `lengthMs` that leave out what lies between.
 * Neighbours with few events in total become one, however far apart; each part of a longer span counts with
 * all of its events.
 */
function covered(spans: readonly CountedSpan[], lengthMs: number): MsSpan[] {
  const covering: { fromMs: number; toMs: number; events: number }[] = [];
  let coveredMs = -Infinity;
  for (const span of spans) {
    const { events } = span;
    let fromMs = Math.max(span.fromMs, coveredMs);
    if (fromMs >= span.toMs) covering.at(-1)!.events += events;
    for (; fromMs < span.toMs; fromMs = coveredMs) {
      coveredMs = fromMs + lengthMs;
      const last = covering.at(-1);
      if (last !== undefined && last.events + events <= SPAN_EVENTS_AIM) {
        last.toMs = coveredMs;
        last.events += events;
      } else covering.push({ fromMs, toMs: coveredMs, events });
    }
  }
  return covering.map(({ fromMs, toMs }) => ({ fromMs, toMs }));
}

/**
 * Finds the times of the events of these identities; null: there are no events. `sql` must read one snapshot.
 * @param spanMs the length of each span with many events; their number does not depend on how far apart the
 * events are
 */
export async function momentsOfIdentities(
  sql: Sql,
  projectId: number,
  identities: ReadonlySet<number>,
  spanMs: number,
): Promise<Moments | null> {
  const found: CountedSpan[] = [];
  const wanted = await blocksOfIdentities(sql, projectId, identities);
  const columns = ["identities", "runs", "times"] as const;
  for await (const reader of eachFetched(sql, projectId, wanted, columns)) {
    const runs = reader.runs();
    const moments = reader.moments();
    for (const [run, identity] of runs.identities.entries()) {
      if (!identities.has(identity)) continue;
      const [start, end] = [runs.starts[run]!, runs.starts[run + 1]!];
      found.push({ fromMs: moments[start]!, toMs: moments[end - 1]! + 1, events: end - start });
    }
  }
  if (found.length === 0) return null;
  found.sort((a, b) => a.fromMs - b.fromMs);
  const lastMs = found.reduce((last, { toMs }) => Math.max(last, toMs), -Infinity) - 1;
  return { firstMs: found[0]!.fromMs, lastMs, spans: covered(found, spanMs) };
}
