import type { Project } from "../auth/projects.ts";
import type { Sql } from "../db/sql.ts";
import type { LazyColumn } from "../timelines/lazy_columns.ts";
import type { Interval } from "../query/buckets.ts";
import type { ComparisonKind } from "../query/comparison.ts";
import type { Filter } from "../query/filters.ts";
import type { Range } from "../query/range.ts";
import type { SavedSegment } from "../query/saved_segment.ts";
import type { Scope, Span } from "../query/selection.ts";
import type { BlockCache } from "../store/segments.ts";
import type { FilteredTimelines } from "./filtered_timelines.ts";

/** The shared parameters as resolved. */
export interface SharedRead {
  readonly project: Project;
  readonly scope: Scope;
  readonly range: Range;
  readonly interval: Interval;
  /** The range that `compare` asks for; null: nothing is compared. */
  readonly comparison: Range | null;
  /** How `compare` names it. */
  readonly comparedBy?: ComparisonKind;
  readonly limit: number;
  readonly asOfMs: number;
  /** How many visitors a group must have to be told by itself; 1: every group is. */
  readonly visitorsMin: number;
}

/** What a report works with: the shared parameters, and one snapshot to look at. */
export interface Read extends SharedRead {
  /** Its time zone is that of the rollups: empty while these hold for none. */
  readonly project: Project;
  /** In whose days other products' sums of this project are; absent or null: none were imported. */
  readonly importedTimezone?: string | null;
  /** The segment that is looked at, whose filters lead those of the scope; absent: none. */
  readonly segment?: SavedSegment;
  /** The read that it is compared with, where segments are asked for: see `comparedRead`. */
  readonly compared?: Read;
  /** Read-only, and of one moment: several statements see the same events. */
  readonly sql: Sql;
  /** Blocks of events that lists read before; absent: none are kept. */
  readonly blocks?: BlockCache;
  /**
   * What actors did, in whole segments that have an event in the span; of the same moment as `sql`.
   * With bits for those of the filters that are on lazy columns; `columns`: those that the visits need.
   */
  readonly timelines: (
    span: Span,
    filters: readonly Filter[],
    columns?: readonly LazyColumn[],
  ) => Promise<FilteredTimelines>;
}

/** What a scan of the selected events needs of a read. */
export type ScanSource = Pick<Read, "sql" | "scope" | "timelines">;
