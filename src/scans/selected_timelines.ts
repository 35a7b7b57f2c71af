import type { LazyColumn } from "../timelines/lazy_columns.ts";
import { type Filter, isSessionField, onEvents } from "../query/filters.ts";
import type { Span } from "../query/selection.ts";
import type { EventPasses } from "./event_test.ts";
import type { ScanManner } from "./filtered_timelines.ts";
import type { ScanSource } from "./read.ts";
import { withWholeSessions } from "./session_end.ts";
import { sessionPasses } from "./session_tests.ts";
import type { VisitorKind } from "./visitor.ts";

/** The timelines of a read, of which scans visit the sessions that pass its filters. */
export type SelectedTimelines = Awaited<ReturnType<typeof selectTimelines>>;

/** How a scan visits selected timelines. */
interface SelectedManner {
  /** Visits each run by itself if no filter is on sessions: see `ScanManner`. */
  readonly byRun?: boolean;
  /** The visitor counts only actors with an event that passes this; absent: all. */
  readonly askedEvents?: EventPasses;
}

/** What a read needs of timelines beyond its scope. */
export interface TimelineNeeds {
  /** More filters that visitors test. */
  readonly filters?: readonly Filter[];
  /** The lazy columns that visitors need. */
  readonly columns?: readonly LazyColumn[];
  /** Whether whole sessions are needed even if no filter is on them. */
  readonly sessions?: boolean;
}

/**
 * Loads timelines with all events of a span, and, if a filter needs them, with the beginnings of the sessions that
 * cross its edges; if the caller or a filter on exits does, with these sessions as a whole.
 */
export async function selectTimelines(
  source: ScanSource,
  span: Span,
  { filters: others = [], columns = [], sessions: needsSessions = false }: TimelineNeeds = {},
) {
  const { sql, scope, timelines } = source;
  const { projectId, filters } = scope;
  const eventFilters = onEvents(filters);
  const isOfSessions = eventFilters.length < filters.length;
  const asksForSessions = needsSessions || others.some(({ field }) => isSessionField(field));
  // Sent before the statements of the timelines. If these fail, nothing awaits it.
  const passes = isOfSessions ? sessionPasses(sql, scope, filters) : null;
  passes?.catch(() => {});
  const isOfEntries = !needsSessions &&
    ![...filters, ...others].some(({ field }) => field === "exitPath");
  const reach = isOfSessions || asksForSessions
    ? await withWholeSessions(source, projectId, span, isOfEntries)
    : span;
  const loaded = await timelines(reach, [...eventFilters, ...others], columns);
  const sessions = passes === null ? null : { test: await passes, reach };
  const mannerOf = ({ byRun = false, askedEvents }: SelectedManner): ScanManner => ({
    sessions,
    byRun,
    asked: { events: askedEvents ?? null, sessions: sessions?.test ?? null },
  });
  return {
    timelines: loaded,
    /** The read's filters on events, which a visitor must still apply. */
    eventFilters,
    /**
     * If sessions matter, a span that contains all sessions with an event in the span, though not the ends of those
     * whose entry is all that matters; else the span.
     */
    reach,
    /**
     * Visits the asked actors with all events of the sessions that pass the filters on sessions. The visitor
     * itself applies the span and the filters on events.
     */
    scan: <Inputs, Counts>(
      kind: VisitorKind<Inputs, Counts>,
      inputs: () => Inputs,
      manner: SelectedManner = {},
    ): Promise<Counts> => loaded.scan(kind, inputs, mannerOf(manner)),
    /** Like `scan`, but hands over the counts of each part: all events of an actor are in the same one. */
    scanParts: async <Inputs, Counts>(
      kind: VisitorKind<Inputs, Counts>,
      inputs: () => Inputs,
      take: (counts: Counts) => void | Promise<void>,
      manner: SelectedManner = {},
    ): Promise<void> => {
      for await (const part of loaded.parts()) {
        await take(await part.scan(kind, inputs(), mannerOf(manner)));
      }
    },
  };
}
