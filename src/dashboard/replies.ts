/** What the reads of several views reply, beside `query` and `asOf`. */

import type { Interval } from "./location_query.ts";

export interface Rate {
  /** Null where the denominator is 0. */
  readonly value: number | null;
  readonly numerator: number;
  readonly denominator: number;
}

export interface Kpis {
  readonly visitors: number;
  readonly newVisitors: number;
  readonly sessions: number;
  readonly pageviews: number;
  readonly events: number;
  readonly bounceRate: Rate;
  readonly sessionDuration: {
    readonly meanSeconds: number | null;
    readonly medianSeconds: number | null;
  };
  readonly pageviewsPerSession: number | null;
}

export interface Bucket {
  readonly start: string;
  /** Local text: 2026-01-31, 2026-01-31 14:00 or 2026-01. */
  readonly label: string;
  readonly complete: boolean;
}

/** `GET /v1/kpis`. */
export interface KpisReply {
  readonly query: { readonly interval: Interval };
  readonly asOf: string;
  readonly totals: Kpis;
  readonly series: readonly (Kpis & Bucket)[];
  readonly previous?: {
    readonly from: string;
    readonly to: string;
    readonly totals: Kpis;
    readonly series: readonly (Kpis & Bucket)[];
  };
}

export interface AcquisitionRow {
  readonly value: string | null;
  readonly visitors: number;
  readonly newVisitors: number;
  readonly sessions: number;
  readonly bounceRate: Rate;
  readonly pageviews: number;
  /** Only with a goal. */
  readonly conversions?: number;
  readonly conversionRate?: Rate;
  readonly rule: string | null;
}

/** `GET /v1/acquisition`. */
export interface AcquisitionReply {
  readonly rows: readonly AcquisitionRow[];
  readonly total: AcquisitionRow;
  readonly nextCursor: string | null;
}

export interface PageRow {
  readonly path: string;
  readonly visitors: number;
  readonly pageviews: number;
  readonly entries: number;
  readonly exits: number;
  readonly bounceRate: Rate;
  readonly medianSecondsOnPage: number | null;
  /** From 0 to 1. */
  readonly medianScrollDepth: number | null;
}

/** `GET /v1/pages`. */
export interface PagesReply {
  readonly rows: readonly PageRow[];
  readonly nextCursor: string | null;
}

export interface GoalResult {
  readonly slug: string;
  readonly title: string;
  readonly uniqueConversions: number;
  readonly totalConversions: number;
  readonly conversionRate: Rate;
  readonly value: { readonly amount: number | null; readonly currency: string | null };
}

/** `GET /v1/live`. */
export interface LiveReply {
  readonly visitors: { readonly last5Minutes: number; readonly last30Minutes: number };
  readonly pages: readonly { readonly path: string; readonly visitors: number }[];
  readonly series: readonly (Bucket & { readonly pageviews: number })[];
}
