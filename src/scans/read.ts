import type { Project } from "../auth/projects.ts";
import type { Sql } from "../db/sql.ts";
import type { LazyColumn } from "../timelines/lazy_columns.ts";
import type { ComparisonKind } from "../query/comparison.ts";
import type { Filter } from "../query/filters.ts";
import type { Range } from "../query/range.ts";
import type { SavedSegment } from "../query/saved_segment.ts";
import type { Scope, Span } from "../query/selection.ts";
import type { Times } from "../query/times.ts";
import type { RowCache } from "../store/rows_by_place.ts";
import type { JournalBlocks } from "../timelines/journal_blocks.ts";
import type { FilteredTimelines } from "./filtered_timelines.ts";

/** The parameters that all reports share, as resolved. */
export interface SharedRead extends Times {
  readonly project: Project;
  readonly scope: Scope;
  /** What `compare` names. */
  readonly comparedBy?: ComparisonKind;
  readonly limit: number;
  readonly asOfMs: number;
  /** Groups of fewer visitors are not shown separately; 1: every group is. */
  readonly visitorsMin: number;
  /** Whether a share reads, which names nobody, whatever `visitorsMin` is; absent: no. */
  readonly isShared?: true;
}

/** What a report answers from: the shared parameters, and one snapshot of the data. */
export interface Read extends SharedRead {
  /** Its time zone is that of the rollups; empty while they are not counted. */
  readonly project: Project;
  /** The time zone of the imported daily sums; absent or null: none were imported. */
  readonly importedTimezone?: string | null;
  /** The saved segment of the read, whose filters are the first of the scope's; absent: none. */
  readonly segment?: SavedSegment;
  /** The read to compare with, where `segment` or `compare` names a segment: see `comparisonOf`. */
  readonly compared?: Read;
  /** Read-only, on one snapshot: several statements see the same events. */
  readonly sql: Sql;
  /** The cache of what whole events are read from, for lists; absent: none. */
  readonly rowCache?: RowCache;
  /** The cache of decoded blocks of the journal; absent: none. */
  readonly journalBlocks?: JournalBlocks;
  /**
   * Chooses the actors of the segment for each of several ranges: `people` has bit i of those of range i, and the
   * timelines are those of all of them. Null: they are the same for each; absent: no condition chooses actors.
   */
  readonly amongRanges?: (ranges: readonly Range[]) => Promise<PeopleOfRanges | null>;
  /**
   * Loads what actors did: whole segments that have an event in the span, at the same moment as `sql`.
   * @param filters those that need filter bits: see `FilterBits`
   * @param columns the lazy columns that visitors need
   */
  readonly timelines: (
    span: Span,
    filters: readonly Filter[],
    columns?: readonly LazyColumn[],
  ) => Promise<FilteredTimelines>;
}

/** The actors of a segment in several ranges: see `Read`. */
export interface PeopleOfRanges extends Pick<Read, "timelines"> {
  readonly people: Uint8Array;
}

/** The part of a read that loads timelines under no filter of the scope. */
export type TimelineSource = Pick<Read, "sql" | "timelines">;

/** The part of a read that scans of its selected events need. */
export type ScanSource = Pick<Read, "sql" | "scope" | "timelines">;
