import type { LazyColumn } from "../timelines/lazy_columns.ts";
import { type Filter, isSessionField } from "../query/filters.ts";
import type { Span } from "../query/selection.ts";
import type { FilteredPart, FilteredTimelines } from "./filtered_timelines.ts";
import type { Read } from "./read.ts";
import { sessionsEndByMs, sessionsStartMs } from "./session_end.ts";
import { sessionPasses } from "./session_tests.ts";
import type { VisitorKind } from "./visitor.ts";

/** Timelines of a read, and which sessions of them its filters let through. */
export interface SelectedTimelines {
  readonly timelines: FilteredTimelines;
  /** The read's filters on events: those that each event must still be tested for. */
  readonly eventFilters: readonly Filter[];
  /** Where sessions matter, all that have an event in the span lie whole in it; else it is the span. */
  readonly reach: Span;
  /**
   * Visits every actor with all events in sessions that pass. Events of the span's edges may lie outside
   * of it; filters on events are the visitor's to apply.
   * @param byRun where no filter is on sessions, each run for itself: see `ScanManner`
   */
  readonly scan: <Inputs, Counts>(
    kind: VisitorKind<Inputs, Counts>,
    inputs: () => Inputs,
    byRun?: boolean,
  ) => Promise<Counts>;
  /** The same part by part: what each one counts is taken while its columns are in memory. */
  readonly scanParts: <Inputs, Counts>(
    kind: VisitorKind<Inputs, Counts>,
    inputs: () => Inputs,
    take: (counts: Counts, part: FilteredPart) => void,
    byRun?: boolean,
  ) => Promise<void>;
}

/** What a read needs of timelines beside its scope. */
export interface Needed {
  /** Filters on events that matter too. */
  readonly filters?: readonly Filter[];
  /** What visits find on segments beside the columns of all reads. */
  readonly columns?: readonly LazyColumn[];
  /** Whether sessions matter even if no filter is on them. */
  readonly sessions?: boolean;
}

/**
 * Timelines with all events of a span, and the whole of the sessions that cross its edges where
 * filters on sessions, or the caller, need it.
 */
export async function selectTimelines(
  source: Pick<Read, "sql" | "scope" | "timelines">,
  span: Span,
  { filters: others = [], columns = [], sessions: needsSessions = false }: Needed = {},
): Promise<SelectedTimelines> {
  const { sql, scope, timelines } = source;
  const { projectId, filters } = scope;
  const eventFilters = filters.filter(({ field }) => !isSessionField(field));
  const filtering = [...eventFilters, ...others];
  const isOfSessions = eventFilters.length < filters.length;
  const asksForSessions = needsSessions || others.some(({ field }) => isSessionField(field));
  const reach: Span = isOfSessions || asksForSessions
    ? {
      fromMs: await sessionsStartMs(source, projectId, span.fromMs),
      toMs: await sessionsEndByMs(source, projectId, span.toMs),
    }
    : span;
  const loaded = await timelines(reach, filtering, columns);
  const sessions = isOfSessions ? { test: await sessionPasses(sql, scope, filters), reach } : null;
  return {
    timelines: loaded,
    eventFilters,
    reach,
    scan: (kind, inputs, byRun = false) => loaded.scan(kind, inputs, { sessions, byRun }),
    scanParts: async (kind, inputs, take, byRun = false) => {
      for await (const part of loaded.parts()) {
        take(await part.scan(kind, inputs(), { sessions, byRun }), part);
      }
    },
  };
}
