/** What the reads of several views reply, beside `query` and `asOf`. */

import type { output } from "zod";
import type * as acquisition from "../reports/acquisition/acquisition.ts";
import type * as pages from "../reports/pages/page_row.ts";
import type { Rate } from "../reports/answer/report.ts";
import type { MayBeImported } from "./imported_days.tsx";
import type { Interval } from "./location_query.ts";
import type { SavedSegment } from "./segments.ts";

/** Counts are null where imported days alone stand, which do not tell them, and of too few for a share. */
export interface Kpis {
  readonly visitors: number | null;
  readonly newVisitors: number | null;
  readonly sessions: number | null;
  readonly pageviews: number | null;
  readonly events: number | null;
  readonly bounceRate: Rate;
  readonly sessionDuration: {
    readonly meanSeconds: number | null;
    readonly medianSeconds: number | null;
  };
  readonly pageviewsPerSession: number | null;
  /** Daily sums of another product are in it. */
  readonly imported?: true;
}

/** What figures are compared with. */
export interface Compared {
  readonly from: string;
  readonly to: string;
  /** Where segments are compared: in the same range. */
  readonly segment?: SavedSegment;
}

export interface Bucket {
  readonly start: string;
  /** Local text: 2026-01-31, 2026-01-31 14:00 or 2026-01. */
  readonly label: string;
  readonly complete: boolean;
}

/** `GET /v1/kpis`. */
export interface KpisReply extends MayBeImported {
  readonly query: MayBeImported["query"] & { readonly interval: Interval };
  readonly asOf: string;
  readonly totals: Kpis;
  readonly series: readonly (Kpis & Bucket)[];
  readonly previous?: Compared & {
    readonly totals: Kpis;
    readonly series: readonly (Kpis & Bucket)[];
  };
}

export type AcquisitionRow = output<typeof acquisition.AcquisitionRow>;

/** `GET /v1/acquisition`. */
export interface AcquisitionReply extends MayBeImported {
  readonly rows: readonly AcquisitionRow[];
  readonly total: AcquisitionRow;
  readonly nextCursor: string | null;
}

export type PageRow = output<typeof pages.PageRow>;

/** `GET /v1/pages`. */
export interface PagesReply extends MayBeImported {
  readonly rows: readonly PageRow[];
  readonly nextCursor: string | null;
}

/** `GET /v1/live`. */
export interface LiveReply {
  readonly visitors: { readonly last5Minutes: number; readonly last30Minutes: number };
  readonly pages: readonly { readonly path: string; readonly visitors: number }[];
  readonly series: readonly (Bucket & { readonly pageviews: number })[];
}
