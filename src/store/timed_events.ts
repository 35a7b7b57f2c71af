import type { Sql } from "../db/sql.ts";
import { FLAG_CODES, HOT_COLUMNS } from "./segment_columns.ts";
import { allBlocks, type Blocks } from "./segment_head.ts";
import type { SegmentReader } from "./segment_reader.ts";
import { fetchBlocks, fetchHeads, type StoredHead } from "./stored_segments.ts";
import { ID_BYTES } from "./id_codec.ts";
import { uuidOf } from "./whole_events.ts";
import { yielding } from "./yielding.ts";

/** Who did what when: as much of an event as sessions and rollups are made of. */
export interface TimedEvent {
  readonly identity: number;
  readonly ms: number;
  readonly eventId: string;
  /** Numbers of the project's dictionaries; 0: none. */
  readonly name: number;
  readonly path: number;
  /** Negative: a bot's. */
  readonly context: number;
  /** 0: it belongs to no session. */
  readonly traffic: number;
  /** It undoes no bounce. */
  readonly isPassive: boolean;
}

/** Which events are told. */
export interface Told {
  /** Of these identities alone. */
  readonly identities?: ReadonlySet<number>;
  readonly beforeMs?: number;
}

/** Whether one of the sorted numbers lies in a range. */
function hasBetween(sorted: Int32Array, from: number, to: number): boolean {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < from) low = middle + 1;
    else high = middle;
  }
  return low < sorted.length && sorted[low]! <= to;
}

/** The blocks of a segment that may hold events of these identities. */
function blocksWith({ head }: StoredHead, identities: Int32Array | null): Blocks[] {
  if (identities === null) return [allBlocks(head)];
  const { firstIdentities, lastIdentity } = head;
  const found: Blocks[] = [];
  for (let first = 0; first < firstIdentities.length; first++) {
    const last = firstIdentities[first + 1] ?? lastIdentity;
    if (hasBetween(identities, firstIdentities[first]!, last)) {
      found.push({ first, end: first + 1 });
    }
  }
  return found;
}

function visitBlocks(
  reader: SegmentReader,
  { identities, beforeMs = Infinity }: Told,
  visit: (event: TimedEvent) => void,
): void {
  const moments = reader.moments();
  const ids = reader.ids(moments);
  const [names, paths] = [reader.integers("names"), reader.integers("paths")];
  const [contexts, traffics] = [reader.integers("contexts"), reader.integers("traffics")];
  const interactive = reader.integers("interactive");
  const runs = reader.runs();
  for (const [run, identity] of runs.identities.entries()) {
    if (identities !== undefined && !identities.has(identity)) continue;
    for (let at = runs.starts[run]!; at < runs.starts[run + 1]!; at++) {
      if (moments[at]! >= beforeMs) break;
      visit({
        identity,
        ms: moments[at]!,
        eventId: uuidOf(ids, ID_BYTES * at),
        name: names[at]!,
        path: paths[at]!,
        context: contexts[at]!,
        traffic: traffics[at]!,
        isPassive: interactive[at] === FLAG_CODES.no,
      });
    }
  }
}

/** Tells of the stored events of a project, in no order, block by block: `sql` must see one moment. */
export async function visitTimedEvents(
  sql: Sql,
  projectId: number,
  told: Told,
  visit: (event: TimedEvent) => void,
): Promise<void> {
  const pause = yielding();
  const sorted = told.identities === undefined ? null : Int32Array.from(told.identities).sort();
  const span = { fromMs: -Infinity, toMs: told.beforeMs ?? Infinity };
  for (const stored of await fetchHeads(sql, projectId, span)) {
    for (const blocks of blocksWith(stored, sorted)) {
      const columns = [...HOT_COLUMNS, "ids"] as const;
      const [reader] = await fetchBlocks(sql, projectId, [{ ...stored, blocks }], columns);
      visitBlocks(reader!, told, visit);
      await pause();
    }
  }
}
