import type { Sql } from "../../src/db/sql.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { compareIds, ID_BYTES } from "../../src/store/id_codec.ts";
import { blocksOfIdentities } from "../../src/store/identity_events.ts";
import { COLUMNS } from "../../src/store/segment_columns.ts";
import type { SegmentReader } from "../../src/store/segment_reader.ts";
import { eachFetched } from "../../src/store/stored_segments.ts";
import type { TimedEvent } from "../../src/store/timed_events.ts";
import { readRows } from "../../src/store/whole_events.ts";
import { yielding } from "../../src/store/yielding.ts";

/** One event of a project, with its dictionary numbers and what it is sorted by. */
export interface SegmentEvent extends Omit<TimedEvent, "eventId" | "isPassive"> {
  /** 16 bytes. */
  readonly id: Uint8Array;
  /** Ids of a term and of a referrer; 0: none. */
  readonly title: number;
  readonly referrer: number;
  readonly row: EventRow;
}

/** Returns the whole events of these identities, or of all, in the order of the segment. */
export async function readEvents(
  reader: SegmentReader,
  projectId: number,
  identities?: ReadonlySet<number>,
): Promise<SegmentEvent[]> {
  const moments = reader.moments();
  const ids = reader.ids(moments);
  const rowAt = await readRows(reader, projectId, yielding(), moments, ids);
  const [names, paths] = [reader.integers("names"), reader.integers("paths")];
  const [contexts, traffics] = [reader.integers("contexts"), reader.integers("traffics")];
  const [titles, referrers] = [reader.integers("titles"), reader.integers("referrers")];
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

/** Returns all events of these identities, ordered by time and id. */
export async function eventsOfIdentities(
  sql: Sql,
  projectId: number,
  identities: ReadonlySet<number>,
): Promise<SegmentEvent[]> {
  const events: SegmentEvent[] = [];
  const wanted = await blocksOfIdentities(sql, projectId, identities);
  for await (const reader of eachFetched(sql, projectId, wanted, COLUMNS)) {
    events.push(...await readEvents(reader, projectId, identities));
  }
  return events.sort((a, b) => a.ms - b.ms || compareIds(a.id, 0, b.id, 0));
}
