import type { Sql } from "../db/sql.ts";
import { FLAG_CODES, HOT_COLUMNS } from "./segment_columns.ts";
import { allBlocks, type Blocks, blocksWithAny } from "./segment_head.ts";
import type { SegmentReader } from "./segment_reader.ts";
import { eachFetched, fetchHeads, type WantedBlocks } from "./stored_segments.ts";
import { ID_BYTES, uuidOf } from "./id_codec.ts";

/** An event, reduced to what sessions and rollups need. */
export interface TimedEvent {
  readonly identity: number;
  readonly ms: number;
  readonly eventId: string;
  /** Numbers of the project's dictionaries; 0: none. */
  readonly name: number;
  readonly path: number;
  /** Negative: a bot's. */
  readonly context: number;
  /** 0: the event is in no session. */
  readonly traffic: number;
  /** The event undoes no bounce. */
  readonly isPassive: boolean;
}

/** Which events are visited; an absent member does not restrict. */
export interface EventSelection {
  readonly identities?: ReadonlySet<number>;
  readonly beforeMs?: number;
}

function visitBlocks(
  reader: SegmentReader,
  { identities, beforeMs = Infinity }: EventSelection,
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

/**
 * Returns the blocks that may hold selected events, one by one.
 * @param fromMs only those of segments with an event at or after this
 */
export async function selectedBlocks(
  sql: Sql,
  projectId: number,
  { identities, beforeMs = Infinity }: EventSelection,
  fromMs = -Infinity,
): Promise<WantedBlocks[]> {
  const sorted = identities === undefined ? null : Int32Array.from(identities).sort();
  const heads = await fetchHeads(sql, projectId, { fromMs, toMs: beforeMs });
  const each = ({ first, end }: Blocks) =>
    Array.from({ length: end - first }, (_, i) => ({ first: first + i, end: first + i + 1 }));
  return heads.flatMap((stored) =>
    (sorted === null ? [allBlocks(stored.head)] : blocksWithAny(stored.head, sorted))
      .flatMap(each).map((blocks) => ({ ...stored, blocks }))
  );
}

/** Visits the selected stored events of a project, in no order. `sql` must read one snapshot. */
export async function visitTimedEvents(
  sql: Sql,
  projectId: number,
  selection: EventSelection,
  visit: (event: TimedEvent) => void,
): Promise<void> {
  const wanted = await selectedBlocks(sql, projectId, selection);
  for await (const reader of eachFetched(sql, projectId, wanted, [...HOT_COLUMNS, "ids"])) {
    visitBlocks(reader, selection, visit);
  }
}
