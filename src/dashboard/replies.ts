/** Replies of the reads that several views share. */

import type { output, ZodObject, ZodRawShape } from "zod";
import type { BUCKET_SHOWN } from "../query/buckets.ts";
import type * as acquisition from "../reports/acquisition/acquisition.ts";
import type * as pages from "../reports/pages/pages.ts";
import type { COMPARED_SHOWN } from "../reports/answer/compared_read.ts";
import type { KPIS_REPLY } from "../reports/kpis/kpis.ts";
import type { LIVE_REPLY } from "../reports/live/live.ts";
import type { MayBeImported } from "./imported_days.tsx";
import type { Interval } from "./location_query.ts";

/** The members of a reply besides `query` and `asOf`, from the server's schema. */
export type ReplyOf<Members extends ZodRawShape> = output<ZodObject<Members>>;

/** What figures are compared with. */
export type Compared = ReplyOf<typeof COMPARED_SHOWN>;
export type Bucket = ReplyOf<typeof BUCKET_SHOWN>;

/** `GET /v1/kpis`. */
export interface KpisReply extends ReplyOf<typeof KPIS_REPLY>, MayBeImported {
  readonly query: MayBeImported["query"] & { readonly interval: Interval };
  readonly asOf: string;
}

/** A count is null if only imported days, which lack it, are in the range, or if it is too small for a share. */
export type Kpis = KpisReply["totals"];

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
export type LiveReply = ReplyOf<typeof LIVE_REPLY>;
