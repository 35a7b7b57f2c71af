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

/** Where what people did is looked up: of all of them, and of one moment. */
export interface DoneSource extends Pick<Read, "sql" | "scope"> {
  readonly load: LoadTimelines;
  /** Where what was counted before is kept. */
  readonly segments: SegmentCache;
}

/** Where nothing more is told of how often. */
const countMaxOf = ({ atLeast, atMost }: Done): number => atMost === null ? atLeast : atMost + 1;

/** Those whose spans meet, together: what lies between two that do not is never loaded. */
function groupsOf(some: readonly Done[]): { readonly span: Span; readonly asked: Done[] }[] {
  const groups: { span: Span; asked: Done[] }[] = [];
  for (const one of some.toSorted((a, b) => a.span.fromMs - b.span.fromMs)) {
    const last = groups.at(-1);
    if (last === undefined || one.span.fromMs > last.span.toMs) {
      groups.push({ span: one.span, asked: [one] });
      continue;
    }
    last.span = { ...last.span, toMs: Math.max(last.span.toMs, one.span.toMs) };
    last.asked.push(one);
  }
  return groups;
}

/** Whether events alone decide, which never change: not who somebody is by now, nor whole sessions. */
function isOfEvents({ did: { filters } }: Done): boolean {
  return !filters.some(({ field }) =>
    field === "userId" || isPersonField(field) || isSessionField(field)
  );
}

/** What is counted of a segment, as a text: of one that lies in the span, whatever that is. */
function keyOf({ bots, siteHost }: Scope, done: Done, segment: DatedSegment): string {
  const { did: { name, filters }, span: { fromMs, toMs } } = done;
  const isWhole = segment.from_ms >= fromMs && segment.to_ms < toMs;
  const asked = [bots, siteHost, name, filters, countMaxOf(done), isWhole ? null : [fromMs, toMs]];
  return `${segment.segment_id} ${JSON.stringify(asked)}`;
}

/** Whether a segment has a part in a span. */
function meets({ from_ms, to_ms }: DatedSegment, { fromMs, toMs }: Span): boolean {
  return from_ms < toMs && to_ms >= fromMs;
}

/** Which identities did any of it how often, in some segments: by bots as the read takes them, under none of its filters. */
async function countNow(
  { sql, scope, load }: DoneSource,
  span: Span,
  asked: readonly Done[],
  segments: ReadonlySet<number>,
): Promise<DoneRows> {
  const all: Scope = { ...scope, filters: [] };
  const filters = asked.flatMap(({ did }) => did.filters);
  const timelines: Read["timelines"] = (span, filters, columns) =>
    load(span, filters, columns, null, segments);
  const selected = await selectTimelines({ sql, scope: all, timelines }, span, { filters });
  const lists = asked.map(({ did }) => withoutTechnical(matchFilters(did)));
  const tests = await eventPasses(sql, all, scope.bots, lists, selected.timelines.bits);
  const inputs = {
    asked: asked.map((one, i) => ({
      test: tests[i]!,
      span: one.span,
      countMax: countMaxOf(one),
    })),
  };
  return await selected.scan(DONE_COUNTS, () => inputs, true);
}

/** What was counted of each condition in each segment; absent: nobody did it there. */
function byCondition(
  { segments, identities, places, counts }: DoneRows,
  asked: number,
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
    groups[i] = last * asked + places[i]!;
  }
  const lengths = new Int32Array(numberOf.size * asked);
  for (const group of groups) lengths[group]!++;
  const found = Array.from(
    lengths,
    (length) => ({ identities: new Int32Array(length), counts: new Int32Array(length) }),
  );
  lengths.fill(0);
  for (const [i, group] of groups.entries()) {
    const at = lengths[group]!++;
    found[group]!.identities[at] = identities[i]!;
    found[group]!.counts[at] = counts[i]!;
  }
  const none = { identities: new Int32Array(0), counts: new Int32Array(0) };
  return (segmentId, place) => {
    const number = numberOf.get(segmentId);
    return number === undefined ? none : found[number * asked + place]!;
  };
}

/** Takes what was counted of a condition in a segment. */
type TakeCounts = (one: Done, counts: CountedRuns) => void;

/** Of each segment what is kept is taken, and what is not is counted now, in one scan, and kept. */
async function countGroup(
  source: DoneSource,
  { span, asked }: { readonly span: Span; readonly asked: readonly Done[] },
  take: TakeCounts,
): Promise<void> {
  const { sql, scope, segments: { counted } } = source;
  const missing: DatedSegment[] = [];
  for (const segment of await datedSegments(sql, scope.projectId, span)) {
    const own = asked.filter((one) => meets(segment, one.span));
    const kept = own.map((one) =>
      isOfEvents(one) ? counted.get(keyOf(scope, one, segment)) : undefined
    );
    if (kept.includes(undefined)) missing.push(segment);
    else for (const [i, one] of own.entries()) take(one, kept[i]!);
  }
  if (missing.length === 0) return;
  const ids = new Set(missing.map(({ segment_id }) => segment_id));
  const rows = await countNow(source, span, asked, ids);
  const countsOf = byCondition(rows, asked.length);
  for (const segment of missing) {
    for (const [place, one] of asked.entries()) {
      if (!meets(segment, one.span)) continue;
      const counts = countsOf(segment.segment_id, place);
      take(one, counts);
      if (isOfEvents(one)) counted.set(keyOf(scope, one, segment), counts);
    }
  }
}

/**
 * How often identities did what each condition asks for, segment by segment: an identity may come
 * several times. Segments never change, so that of those that were looked at before nothing is read.
 */
export async function countDone(
  source: DoneSource,
  some: readonly Done[],
  take: TakeCounts,
): Promise<void> {
  for (const group of groupsOf(some)) await countGroup(source, group, take);
}
