import { isPersonField, isSessionField } from "../query/filters.ts";
import type { Done } from "../query/resolved_condition.ts";
import { matchFilters, type Scope, type Span } from "../query/selection.ts";
import { withoutTechnical } from "../query/technical.ts";
import type { CountedRuns, SegmentCache } from "../timelines/segment_cache.ts";
import { type DatedSegment, datedSegments } from "../timelines/timelines.ts";
import { DONE_COUNTS, type DoneRows } from "./done_visitor.ts";
import { eventPasses } from "./event_tests.ts";
import type { LoadTimelines } from "./filtered_timelines.ts";
import type { Read } from "./read.ts";
import { selectTimelines } from "./selected_timelines.ts";

/** The source of the counts: the timelines of all actors, at one moment. */
export interface DoneSource extends Pick<Read, "sql" | "scope"> {
  readonly load: LoadTimelines;
  /** The cache that keeps the counts of each segment. */
  readonly segments: SegmentCache;
}

/** The count from which on a condition's result no longer changes. */
const countMaxOf = ({ atLeast, atMost }: Done): number => atMost === null ? atLeast : atMost + 1;

/** Conditions that are counted in one scan, and the span that holds all of theirs. */
interface DoneGroup {
  readonly span: Span;
  readonly conditions: readonly Done[];
}

/** Groups conditions whose spans touch, so that nothing between two groups is loaded. */
function groupsOf(conditions: readonly Done[]): DoneGroup[] {
  const groups: { span: Span; conditions: Done[] }[] = [];
  for (const one of conditions.toSorted((a, b) => a.span.fromMs - b.span.fromMs)) {
    const last = groups.at(-1);
    if (last === undefined || one.span.fromMs > last.span.toMs) {
      groups.push({ span: one.span, conditions: [one] });
      continue;
    }
    last.span = { ...last.span, toMs: Math.max(last.span.toMs, one.span.toMs) };
    last.conditions.push(one);
  }
  return groups;
}

/**
 * Whether a segment's count can be cached: it depends on the segment's events only, which never change, not
 * on identities' present actors or whole sessions.
 */
function isOfEventsAlone({ did: { filters } }: Done): boolean {
  return !filters.some(({ field }) =>
    field === "userId" || isPersonField(field) || isSessionField(field)
  );
}

/** The cache key of a condition's counts in a segment. A segment that lies whole in the span has the same key for any such span. */
function keyOf({ bots, siteHost }: Scope, done: Done, segment: DatedSegment): string {
  const { did: { name, filters }, span: { fromMs, toMs } } = done;
  const isWhole = segment.from_ms >= fromMs && segment.to_ms < toMs;
  const parts = [bots, siteHost, name, filters, countMaxOf(done), isWhole ? null : [fromMs, toMs]];
  return `${segment.segment_id} ${JSON.stringify(parts)}`;
}

function overlaps({ from_ms, to_ms }: DatedSegment, { fromMs, toMs }: Span): boolean {
  return from_ms < toMs && to_ms >= fromMs;
}

/**
 * Counts how often identities met each condition in these segments (the result may include others), with the
 * read's `bots` and none of its filters.
 */
async function countNow(
  { sql, scope, load }: DoneSource,
  { span, conditions }: DoneGroup,
  segments: ReadonlySet<number>,
): Promise<DoneRows> {
  const all: Scope = { ...scope, filters: [] };
  const filters = conditions.flatMap(({ did }) => did.filters);
  // A session may have its other events in any segment around the span.
  const only = filters.some(({ field }) => isSessionField(field)) ? null : segments;
  const timelines: Read["timelines"] = (span, filters, columns) =>
    load(span, filters, columns, null, only);
  const selected = await selectTimelines({ sql, scope: all, timelines }, span, { filters });
  const lists = conditions.map(({ did }) => withoutTechnical(matchFilters(did)));
  const tests = await eventPasses(sql, all, scope.bots, lists, selected.timelines.bits);
  const inputs = {
    conditions: conditions.map((one, i) => ({
      test: tests[i]!,
      span: one.span,
      countMax: countMaxOf(one),
    })),
  };
  return await selected.scan(DONE_COUNTS, () => inputs, { byRun: true });
}

/** Sorts rows by segment and condition. Returns a lookup; its result is empty if nobody met the condition. */
function byCondition(
  { segments, identities, places, counts }: DoneRows,
  conditionCount: number,
): (segmentId: number, place: number) => CountedRuns {
  const numberOf = new Map<number, number>();
  const groups = new Int32Array(places.length);
  let lastId = NaN;
  let last = 0;
  for (let i = 0; i < places.length; i++) {
    const id = segments[i]!;
    if (id !== lastId) {
      last = numberOf.get(id) ?? numberOf.size;
      numberOf.set(lastId = id, last);
    }
    groups[i] = last * conditionCount + places[i]!;
  }
  const lengths = new Int32Array(numberOf.size * conditionCount);
  for (const group of groups) lengths[group]!++;
  const countsOf = Array.from(
    lengths,
    (length) => ({ identities: new Int32Array(length), counts: new Int32Array(length) }),
  );
  lengths.fill(0);
  for (const [i, group] of groups.entries()) {
    const at = lengths[group]!++;
    countsOf[group]!.identities[at] = identities[i]!;
    countsOf[group]!.counts[at] = counts[i]!;
  }
  const none = { identities: new Int32Array(0), counts: new Int32Array(0) };
  return (segmentId, place) => {
    const number = numberOf.get(segmentId);
    return number === undefined ? none : countsOf[number * conditionCount + place]!;
  };
}

/** Receives the counts of a condition in a segment. */
type TakeCounts = (one: Done, counts: CountedRuns) => void;

/** Takes the cached counts of segments; counts all other segments in one scan, and caches the result. */
async function countGroup(source: DoneSource, group: DoneGroup, take: TakeCounts): Promise<void> {
  const { span, conditions } = group;
  const { sql, scope, segments: { counted } } = source;
  const missing: DatedSegment[] = [];
  for (const segment of await datedSegments(sql, scope.projectId, span)) {
    const overlapping = conditions.filter((one) => overlaps(segment, one.span));
    const kept = overlapping.map((one) =>
      isOfEventsAlone(one) ? counted.get(keyOf(scope, one, segment)) : undefined
    );
    if (kept.includes(undefined)) missing.push(segment);
    else for (const [i, one] of overlapping.entries()) take(one, kept[i]!);
  }
  if (missing.length === 0) return;
  const ids = new Set(missing.map(({ segment_id }) => segment_id));
  const rows = await countNow(source, group, ids);
  const countsOf = byCondition(rows, conditions.length);
  for (const segment of missing) {
    for (const [place, one] of conditions.entries()) {
      if (!overlaps(segment, one.span)) continue;
      const counts = countsOf(segment.segment_id, place);
      take(one, counts);
      if (isOfEventsAlone(one)) counted.set(keyOf(scope, one, segment), counts);
    }
  }
}

/**
 * Counts how often identities met each condition, segment by segment: `take` may get an identity several
 * times. Segments never change, so counts are cached, and a segment is counted only once.
 */
export async function countDone(
  source: DoneSource,
  conditions: readonly Done[],
  take: TakeCounts,
): Promise<void> {
  for (const group of groupsOf(conditions)) await countGroup(source, group, take);
}
