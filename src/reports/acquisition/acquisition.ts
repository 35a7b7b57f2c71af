import { z } from "zod";
import { ACQUISITION_DIMENSIONS, type AcquisitionDimension } from "../../attribution/dimensions.ts";
import { namesPerson } from "../../query/filters.ts";
import { oneOf, readAll } from "../../query/parameters.ts";
import { spanOf } from "../../query/range.ts";
import { encodeRowCursor, readRowCursor, type RowCursor } from "../../query/row_cursor.ts";
import type { Read } from "../../scans/read.ts";
import { type Figures, pageOf, sortedBy } from "./acquisition_rows.ts";
import { type Goal, loadAskedGoal, readGoalSlug, unknownGoal } from "../saved/goal_definitions.ts";
import { worthOf, WorthShown } from "../saved/goal_worth.ts";
import { importedAcquisition, mergedAcquisition } from "./imported_acquisition.ts";
import { importedSaid, type ImportedSpan } from "../imported/imported_span.ts";
import { pageOfRows } from "../imported/merged_rows.ts";
import { type Answer, askingOf, rate, RateShown, type Report } from "../answer/report.ts";
import { isSmall, silentPlaces, toldCount, tooFewVisitors } from "../answer/small_groups.ts";
import { type AcquisitionTally, WHOLE } from "./acquisition_tally.ts";
import { toldAcquisition, type ToldTally } from "./told_acquisition.ts";

const count = (description: string) => z.int().meta({ description });
const told = (description: string) =>
  z.int().nullable().meta({
    description:
      `${description}; null: of imported days alone, which do not tell it, or too few for a share`,
  });

export const AcquisitionRow = z.object({
  value: z.string().nullable().meta({
    description:
      "Null where the sessions have none; $other: values of too few visitors for a share",
  }),
  visitors: told("Distinct actors of the sessions"),
  newVisitors: told("Those whose first event ever lies in the range"),
  sessions: told("Sessions that start in the range"),
  bounceRate: RateShown,
  pageviews: told("Page views of the sessions"),
  conversions: count(
    "With `goal`: distinct actors who reach it in these sessions; null: too few for a share",
  ).nullable().optional(),
  conversionRate: RateShown.optional().meta({ description: "conversions / visitors" }),
  goalValue: WorthShown.optional().meta({
    description:
      "With `goal`: what all its events in these sessions are worth together; nulls where the goal has no value, or too few reached it for a share",
  }),
  rule: z.string().nullable().meta({
    description:
      "Channel rule of most of the sessions; null in the total, and of imported days alone",
  }),
  imported: z.literal(true).optional().meta({
    description: "Daily sums of another product are in it, as `query.imported` tells",
  }),
}).meta({ id: "AcquisitionRow" });

/** `GET /v1/acquisition`: where sessions come from, begin, and are made, and what they come to. */
export const ACQUISITION: Report = {
  path: "/v1/acquisition",
  summary:
    "Visitors, sessions, bounces and conversions by channel, source, entry page, place or device",
  parameters: {
    by: `What to split by: ${ACQUISITION_DIMENSIONS.join(", ")}. Default: channel`,
    goal: "Slug of a saved goal whose conversions, and what they are worth, to count",
  },
  semantics:
    "Rows are over sessions that start in the range and hold a selected event, whole, by the value of their first page view (of their first event, if they have none). " +
    "visitors = distinct actors of the row's sessions; newVisitors = those of them whose first event ever lies in the range; pageviews are those of the sessions. " +
    "bounceRate = bounces / sessions. conversions = distinct actors with an event of the goal (a bot's only where asked for) within the row's sessions; conversionRate = conversions / visitors. " +
    "goalValue = the sum of the goal's property where it is a JSON number, or its fixed amount, over all events of the goal in these sessions. " +
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

export interface Own {
  readonly by: AcquisitionDimension;
  readonly slug: string | null;
  readonly cursor: RowCursor | null;
}

export function readOwn(query: URLSearchParams): Own {
  return readAll({
    by: () => oneOf(query, "by", ACQUISITION_DIMENSIONS, "channel"),
    slug: () => readGoalSlug(query),
    cursor: () => readRowCursor(query, sortedBy(Boolean(query.get("goal"))).length),
  });
}

/** What a row comes to by the goal that is asked for. */
function shownGoal(figures: Figures, { value }: Goal, visitorsMin: number) {
  const { visitors, conversions, isWorthTold } = figures;
  if (isSmall(conversions, visitorsMin)) {
    return {
      conversions: null,
      conversionRate: rate(0, 0),
      goalValue: { amount: null, currency: value?.currency ?? null },
    };
  }
  return {
    conversions,
    conversionRate: rate(conversions, visitors ?? 0),
    goalValue: isWorthTold
      ? worthOf(value, figures)
      : { amount: null, currency: value?.currency ?? null },
  };
}

function shown(
  figures: Figures,
  goal: Goal | null,
  visitorsMin: number,
): z.output<typeof AcquisitionRow> {
  const { value, visitors, newVisitors, sessions, pageviews, rule } = figures;
  return {
    value,
    visitors,
    newVisitors: toldCount(newVisitors, visitorsMin),
    sessions,
    bounceRate: rate(figures.bounces, figures.bounceSessions),
    pageviews,
    ...goal === null ? {} : shownGoal(figures, goal, visitorsMin),
    rule,
    ...figures.isImported ? { imported: true as const } : {},
  };
}

/** Where too few converted, and as many more that nobody's worth is what is left of the total. */
function silentWorths(
  { sums: { conversions } }: AcquisitionTally,
  visitorsMin: number,
): Set<number> {
  if (visitorsMin === 1) return new Set();
  const ofValues = [...conversions.subarray(WHOLE + 1)];
  return new Set([...silentPlaces(ofValues, visitorsMin)].map((i) => WHOLE + 1 + i));
}

/** A page of the rows and the whole, before they are shown. */
interface FoundPage {
  readonly rows: readonly Figures[];
  readonly total: Figures;
  readonly next: RowCursor | null;
}

/** Rows of own events alone: the database sorts them. */
async function ownPage(
  read: Read,
  { by, cursor }: Own,
  { tally, other }: ToldTally,
  withGoal: boolean,
): Promise<FoundPage> {
  const { sql, scope: { projectId }, limit } = read;
  const rows = limit + 1;
  const silent = silentWorths(tally, read.visitorsMin);
  const page = await pageOf(sql, tally, { projectId, by, withGoal, cursor, rows, other, silent });
  const listed = page.rows.slice(0, limit);
  const last = page.rows.length > limit ? listed.at(-1)! : null;
  const next = last === null ? null : {
    counts: sortedBy(withGoal).map((count) => last[count]!),
    value: last.value,
  };
  const all = next === null && page.other !== null ? [...listed, page.other] : listed;
  return { rows: all, total: page.total, next };
}

/** Rows of own events and of imported days: the same value stands in both. */
async function mergedPage(
  read: Read,
  { by, cursor }: Own,
  { tally }: ToldTally,
  span: ImportedSpan,
): Promise<FoundPage> {
  const { sql, scope: { projectId }, limit } = read;
  const rows = tally.sums.sessions.length;
  const own = await pageOf(sql, tally, {
    ...{ projectId, by, withGoal: false, cursor: null, rows, other: null, silent: new Set() },
  });
  const merged = await mergedAcquisition(read, by, span, own);
  const sortable = merged.rows.map((row) => ({
    row,
    value: row.value,
    counts: sortedBy(false).map((count) => row[count] ?? 0),
  }));
  const page = pageOfRows(sortable, cursor, limit);
  return { rows: page.rows.map(({ row }) => row), total: merged.total, next: page.next };
}

async function answer(read: Read, own: Own): Promise<Answer> {
  const { by, slug } = own;
  const { sql, scope, visitorsMin } = read;
  const { projectId } = scope;
  const goal = await loadAskedGoal(sql, projectId, slug);
  if (visitorsMin > 1 && goal?.match.filters.some(namesPerson) === true) throw unknownGoal();
  const span = spanOf(read.range);
  const { match = null, value = null } = goal ?? {};
  const told = await toldAcquisition(read, { scope, span, by, goal: match, value });
  // Fewer people may have begun a session in the range than came.
  if (isSmall(told.tally.sums.visitors[WHOLE]!, visitorsMin)) throw tooFewVisitors(visitorsMin);
  const withGoal = goal !== null;
  const imported = await importedAcquisition(read, by, withGoal);
  const page = imported.days.length === 0
    ? await ownPage(read, own, told, withGoal)
    : await mergedPage(read, own, told, imported);
  const { query, ...said } = importedSaid(read, [imported]);
  return {
    query: { by, goal: slug, ...query },
    asking: askingOf({ goal: [match] }),
    ...said,
    result: {
      rows: page.rows.map((row) => shown(row, goal, visitorsMin)),
      total: shown(page.total, goal, visitorsMin),
      nextCursor: page.next === null ? null : encodeRowCursor(page.next),
    },
  };
}
