import type { Sql } from "../../src/db/sql.ts";
import type { Timelines } from "../../src/timelines/timelines.ts";
import type { LoadedSegment } from "../../src/timelines/loaded_segment.ts";
import { SegmentCache } from "../../src/timelines/segment_cache.ts";
import type { Filter } from "../../src/query/filters.ts";
import type { BotChoice, Scope } from "../../src/query/selection.ts";
import { EventTest } from "../../src/scans/event_test.ts";
import { eventPassesOf } from "../../src/scans/event_tests.ts";
import {
  type FilteredTimelines,
  loadFilteredTimelines,
} from "../../src/scans/filtered_timelines.ts";
import type { VisitorKind } from "../../src/scans/visitor.ts";
import type { VisitActor } from "../../src/timelines/timeline.ts";
import type { Read } from "../../src/scans/read.ts";
import { IN_PLACE } from "./in_place.ts";

/**
 * The timelines of a project, as a read is given them; segments are kept from one read to the next.
 * What takes more than `cacheBytes` is read in parts of about `partBytes`.
 */
export function timelinesOf(
  sql: Sql,
  projectId = 1,
  cacheBytes = 1_000_000,
  partBytes = cacheBytes,
): Read["timelines"] {
  const scope = { projectId, siteHost: null };
  const cache = new SegmentCache(cacheBytes, partBytes);
  const access = { sql, scope, segments: cache, pool: IN_PLACE, use: cache.memory.enter() };
  return (span, filters, columns) => loadFilteredTimelines(access, span, filters, columns);
}

/** The test of events of all parts, or of the only one where filters are many. */
export async function eventTestOf(
  sql: Sql,
  scope: Pick<Scope, "projectId" | "siteHost">,
  bots: BotChoice,
  filters: readonly Filter[],
  timelines: FilteredTimelines,
): Promise<EventTest> {
  const passes = await eventPassesOf(sql, scope, bots, filters, timelines.bits);
  let words: readonly Int32Array[] = [];
  for await (const part of timelines.parts()) words = part.words;
  return new EventTest(passes, words);
}

/** Visits where it is asked for, and counts nothing. */
export function visiting(visit: VisitActor): VisitorKind<null, null> {
  return { name: "visiting", create: () => ({ visit, result: () => null }), merge: () => null };
}

/** The segments of all parts. */
export async function segmentsOf(timelines: Pick<Timelines, "parts">): Promise<LoadedSegment[]> {
  const segments: LoadedSegment[] = [];
  for await (const part of timelines.parts()) segments.push(...part.segments);
  return segments;
}

/** Timelines, and how often they were asked for. */
export interface FollowedHistories {
  readonly timelines: Read["timelines"];
  readonly followed: () => number;
}

export function followedTimelines(sql: Sql): FollowedHistories {
  const load = timelinesOf(sql);
  let followed = 0;
  return {
    timelines: (span, filters, columns) => {
      followed++;
      return load(span, filters, columns);
    },
    followed: () => followed,
  };
}
