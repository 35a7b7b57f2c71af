import { z } from "zod";
import { ACQUISITION_DIMENSIONS, type AcquisitionDimension } from "../../attribution/dimensions.ts";
import { NAME_LENGTH_MAX } from "../../limits.ts";
import { Problem } from "../../problem.ts";
import { namesPerson } from "../../query/filters.ts";
import { invalidParameter, oneOf, readAll } from "../../query/parameters.ts";
import { encodeRowCursor, readRowCursor, type RowCursor } from "../../query/row_cursor.ts";
import type { Span } from "../../query/selection.ts";
import type { Read } from "../../scans/read.ts";
import { type Figures, pageOf, sortedBy } from "./acquisition_rows.ts";
import { loadGoal } from "../goal_definitions.ts";
import { type Answer, askingOf, rate, RateShown, type Report } from "../report.ts";
import { toldAcquisition } from "./told_acquisition.ts";

const count = (description: string) => z.int().meta({ description });

export const AcquisitionRow = z.object({
  value: z.string().nullable().meta({
    description:
      "Null where the sessions have none; $other: values of too few visitors for a share",
  }),
  visitors: count("Distinct actors of the sessions"),
  newVisitors: count("Those whose first event ever lies in the range"),
  sessions: count("Sessions that start in the range"),
  bounceRate: RateShown,
  pageviews: count("Page views of the sessions"),
  conversions: count("With `goal`: distinct actors who reach it in these sessions").optional(),
  conversionRate: RateShown.optional().meta({ description: "conversions / visitors" }),
  rule: z.string().nullable().meta({
    description: "Channel rule of most of the sessions; null in the total",
  }),
}).meta({ id: "AcquisitionRow" });

/** `GET /v1/acquisition`: where sessions come from, begin, and are made, and what they come to. */
export const ACQUISITION: Report = {
  path: "/v1/acquisition",
  summary:
    "Visitors, sessions, bounces and conversions by channel, source, entry page, place or device",
  parameters: {
    by: `What to split by: ${ACQUISITION_DIMENSIONS.join(", ")}. Default: channel`,
    goal: "Slug of a saved goal whose conversions to count",
  },
  semantics:
    "Rows are over sessions that start in the range and hold a selected event, whole, by the value of their first page view (of their first event, if they have none). " +
    "visitors = distinct actors of the row's sessions; newVisitors = those of them whose first event ever lies in the range; pageviews are those of the sessions. " +
    "bounceRate = bounces / sessions. conversions = distinct actors with an event of the goal (a bot's only where asked for) within the row's sessions; conversionRate = conversions / visitors. " +
    "rule = the channel rule of most of the row's sessions. total is the unsplit row.",
  reply: {
    rows: z.array(AcquisitionRow),
    total: AcquisitionRow,
    nextCursor: z.string().nullable().meta({ description: "Null on the last page" }),
  },
  ask: (query) => {
    const own = readOwn(query);
    return { answer: (read) => answer(read, own) };
  },
};

/** `goal`: the slug of a saved goal; null where it is not given. */
function readSlug(query: URLSearchParams): string | null {
  const slug = query.get("goal");
  if (slug === null || slug === "") return null;
  if (slug.length <= NAME_LENGTH_MAX && slug.isWellFormed() && !slug.includes("\0")) return slug;
  throw invalidParameter("goal", "Use the slug of a saved goal.");
}

interface Own {
  readonly by: AcquisitionDimension;
  readonly slug: string | null;
  readonly cursor: RowCursor | null;
}

function readOwn(query: URLSearchParams): Own {
  return readAll({
    by: () => oneOf(query, "by", ACQUISITION_DIMENSIONS, "channel"),
    slug: () => readSlug(query),
    cursor: () => readRowCursor(query, sortedBy(Boolean(query.get("goal"))).length),
  });
}

function shown(figures: Figures, withGoal: boolean): z.output<typeof AcquisitionRow> {
  const { value, visitors, newVisitors, sessions, bounces, pageviews, conversions, rule } = figures;
  return {
    value,
    visitors,
    newVisitors,
    sessions,
    bounceRate: rate(bounces, sessions),
    pageviews,
    ...withGoal ? { conversions, conversionRate: rate(conversions, visitors) } : {},
    rule,
  };
}

async function answer(read: Read, { by, slug, cursor }: Own): Promise<Answer> {
  const { sql, scope, limit } = read;
  const { projectId } = scope;
  const goal = slug === null ? null : (await loadGoal(sql, projectId, slug))?.match;
  const isHidden = read.visitorsMin > 1 && goal?.filters.some(namesPerson) === true;
  if (goal === undefined || isHidden) {
    throw new Problem("not_found", "There is no goal of this name.");
  }
  const span: Span = { fromMs: read.range.from.getTime(), toMs: read.range.to.getTime() };
  const { tally, other } = await toldAcquisition(read, { scope, span, by, goal });
  const withGoal = goal !== null;
  const page = await pageOf(sql, tally, {
    projectId,
    by,
    withGoal,
    cursor,
    rows: limit + 1,
    other,
  });
  const listed = page.rows.slice(0, limit);
  const last = page.rows.length > limit ? listed.at(-1)! : null;
  const nextCursor = last === null ? null : encodeRowCursor({
    counts: sortedBy(withGoal).map((count) => last[count]),
    value: last.value,
  });
  const rows = nextCursor === null && page.other !== null ? [...listed, page.other] : listed;
  return {
    query: { by, goal: slug },
    asking: askingOf({ goal: [goal] }),
    result: {
      rows: rows.map((row) => shown(row, withGoal)),
      total: shown(page.total, withGoal),
      nextCursor,
    },
  };
}
