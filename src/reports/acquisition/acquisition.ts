import { z } from "zod";
import { ACQUISITION_DIMENSIONS, type AcquisitionDimension } from "../../attribution/dimensions.ts";
import { namesPerson, readJson } from "../../query/filters.ts";
import { invalidParameter, oneOf, readAll } from "../../query/parameters.ts";
import { cutPage, encodeRowCursor, readRowCursor, type RowCursor } from "../../query/row_cursor.ts";
import type { Read } from "../../scans/read.ts";
import { pageOf, type RowFigures, sortedBy } from "./acquisition_rows.ts";
import { type Goal, loadAskedGoal, readGoalSlug, unknownGoal } from "../saved/goal_definitions.ts";
import { worthOf, WorthShown } from "../saved/goal_worth.ts";
import { importedAcquisition, mergedAcquisition } from "./imported_acquisition.ts";
import { importedSaid, type ImportedSpan } from "../imported/imported_span.ts";
import { pageOfRows } from "../imported/merged_rows.ts";
import { type Answer, rate, RateShown, type Report } from "../answer/report.ts";
import { isSmall, shownCount, tooFewVisitors } from "../answer/small_groups.ts";
import { scanSessions, shownAcquisition, type ShownTally } from "./acquisition_scan.ts";
import { WHOLE } from "./acquisition_tally.ts";
import { listedValue } from "../../query/selection.ts";
import { SqlParams } from "../../query/sql_params.ts";
import { type NumberedRead, PlaceText, refuseListed } from "../behind/behind.ts";
import { type Behind, behindWhere } from "../behind/behind_tally.ts";
import { idOfSession, type NumberedValues } from "../visitors/session_values.ts";

const count = (description: string) => z.int().describe(description);
const nullableCount = (description: string) =>
  z.int().nullable().describe(
    `${description}; null: of imported days alone, which do not tell it, or too few for a share`,
  );

export const AcquisitionRow = z.object({
  value: z.string().nullable().describe(
    "Null where the sessions have none; $other: values of too few visitors for a share",
  ),
  visitors: nullableCount("Distinct actors of the sessions"),
  newVisitors: nullableCount("Those whose first event ever is in the range"),
  sessions: nullableCount("Sessions that start in the range"),
  bounceRate: RateShown,
  pageviews: nullableCount("Page views of the sessions"),
  conversions: count(
    "With `goal`: distinct actors who reach it in these sessions; null: too few for a share",
  ).nullable().optional(),
  conversionRate: RateShown.optional().describe("conversions / visitors"),
  goalValue: WorthShown.optional().describe(
    "With `goal`: what all its events in these sessions are worth together; nulls where the goal has no value, or too few reached it for a share",
  ),
  rule: z.string().nullable().describe(
    "Channel rule of most of the sessions; null in the total, and of imported days alone",
  ),
  imported: z.literal(true).optional().describe(
    "Daily sums of another product are in it, as `query.imported` tells",
  ),
}).meta({ id: "AcquisitionRow" });

/** `GET /v1/acquisition`: where sessions come from, and what they lead to. */
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
    "visitors = distinct actors of the row's sessions; newVisitors = those of them whose first event ever is in the range; pageviews are those of the sessions. " +
    "bounceRate = bounces / sessions. conversions = distinct actors with an event of the goal (a bot's only where asked for) within the row's sessions; conversionRate = conversions / visitors. " +
    "goalValue = the sum of the goal's property where it is a JSON number, or its fixed amount, over all events of the goal in these sessions. " +
    "rule = the channel rule of most of the row's sessions. total is the unsplit row.",
  reply: {
    rows: z.array(AcquisitionRow),
    total: AcquisitionRow,
    nextCursor: z.string().nullable().describe("Null on the last page"),
  },
  ask: (query) => {
    const parameters = readAcquisitionParameters(query);
    return { answer: (read) => answer(read, parameters) };
  },
};

/** The report's own parameters; `slug` names the goal. */
type AcquisitionParameters = ReturnType<typeof readAcquisitionParameters>;

function readAcquisitionParameters(query: URLSearchParams) {
  return readAll({
    by: () => oneOf(query, "by", ACQUISITION_DIMENSIONS, "channel"),
    slug: () => readGoalSlug(query),
    cursor: () => readRowCursor(query, sortedBy(Boolean(query.get("goal"))).length),
  });
}

/** The members of a row that the goal adds. */
function shownGoal(figures: RowFigures, { value }: Goal, visitorsMin: number) {
  const { visitors, conversions, isWorthShown } = figures;
  const isShown = !isSmall(conversions, visitorsMin);
  return {
    conversions: isShown ? conversions : null,
    conversionRate: isShown ? rate(conversions, visitors ?? 0) : rate(0, 0),
    goalValue: isShown && isWorthShown
      ? worthOf(value, figures)
      : { amount: null, currency: value?.currency ?? null },
  };
}

function shown(
  figures: RowFigures,
  goal: Goal | null,
  visitorsMin: number,
): z.output<typeof AcquisitionRow> {
  const { value, visitors, newVisitors, sessions, pageviews, rule } = figures;
  return {
    value,
    visitors,
    newVisitors: shownCount(newVisitors, visitorsMin),
    sessions,
    bounceRate: rate(figures.bounces, figures.bounceSessions),
    pageviews,
    ...goal === null ? {} : shownGoal(figures, goal, visitorsMin),
    rule,
    ...figures.isImported ? { imported: true as const } : {},
  };
}

/** Returns the sort key of a row. */
function keyOf(row: RowFigures, withGoal: boolean): RowCursor {
  return { counts: sortedBy(withGoal).map((count) => row[count] ?? 0), value: row.value };
}

/** Returns a page of rows without imported days: the database sorts them. */
async function ownPage(
  read: Read,
  { by, cursor }: AcquisitionParameters,
  counted: ShownTally,
  withGoal: boolean,
) {
  const { limit } = read;
  const page = await pageOf(read, counted, { by, withGoal, cursor, rows: limit + 1 });
  const { rows: listed, nextCursor } = cutPage(
    page.rows,
    limit,
    (last) => encodeRowCursor(keyOf(last, withGoal)),
  );
  const all = nextCursor === null && page.other !== null ? [...listed, page.other] : listed;
  return { rows: all, total: page.total, nextCursor };
}

/** Returns a page of rows of own events and imported days, each value once. */
async function mergedPage(
  read: Read,
  { by, cursor }: AcquisitionParameters,
  counted: ShownTally,
  span: ImportedSpan,
) {
  const rows = counted.tally.sums.sessions.length;
  const own = await pageOf(read, counted, { by, withGoal: false, cursor: null, rows });
  const merged = await mergedAcquisition(read, by, span, own);
  return {
    ...pageOfRows(merged.rows, (row) => keyOf(row, false), cursor, read.limit),
    total: merged.total,
  };
}

async function answer(read: Read, parameters: AcquisitionParameters): Promise<Answer> {
  const { by, slug } = parameters;
  const { sql, scope, visitorsMin, isShared } = read;
  const goal = await loadAskedGoal(sql, scope.projectId, slug);
  if (isShared && goal?.match.filters.some(namesPerson) === true) throw unknownGoal();
  const counted = await shownAcquisition(read, { by, goal });
  // The check of the share's read also counted visitors whose sessions all began before the range.
  if (isSmall(counted.tally.sums.visitors[WHOLE]!, visitorsMin)) throw tooFewVisitors(visitorsMin);
  const withGoal = goal !== null;
  const imported = await importedAcquisition(read, by, withGoal);
  const page = imported.days.length === 0
    ? await ownPage(read, parameters, counted, withGoal)
    : await mergedPage(read, parameters, counted, imported);
  const { query, ...said } = importedSaid(read, [imported]);
  return {
    query: { by, goal: slug, ...query },
    matches: { goal: [goal?.match ?? null] },
    ...said,
    result: {
      rows: page.rows.map((row) => shown(row, goal, visitorsMin)),
      total: shown(page.total, goal, visitorsMin),
      nextCursor: page.nextCursor,
    },
  };
}

const COUNTS = ["visitors", "newVisitors", "sessions", "conversions"] as const;

/** The number that `of` names: a count in the row of a value. */
const AcquisitionNumber = z.strictObject({
  value: PlaceText.nullable(),
  count: z.enum(COUNTS, `Use one of ${COUNTS.join(", ")}.`),
});

/** Marks the places whose value is `wanted` with 1. */
async function placesOf(
  { sql, scope: { projectId } }: Read,
  by: AcquisitionDimension,
  { idOf }: NumberedValues,
  wanted: string | null,
): Promise<Uint8Array> {
  const params = new SqlParams();
  const { joins, value } = listedValue(by, params.int(projectId));
  const lists = [params.ints([...idOf.keys()]), params.ints([...idOf])];
  const rows = await sql.query<{ number: number }>(
    `SELECT s.number FROM (
      SELECT * FROM unnest(${lists.join(", ")}) AS listed (number, ${idOfSession(by)})
    ) AS s ${joins} WHERE ${value} IS NOT DISTINCT FROM ${params.text(wanted)}`,
    params.values,
  );
  const places = new Uint8Array(idOf.length + 1);
  for (const { number } of rows) places[number + 1] = 1;
  return places;
}

async function find(
  read: Read,
  { by, slug }: ReturnType<typeof readAcquisitionParameters>,
  { value, count }: z.output<typeof AcquisitionNumber>,
): Promise<Behind> {
  const { sql, scope } = read;
  const goal = await loadAskedGoal(sql, scope.projectId, slug);
  const { counts: { behind, newcomers }, isNew } = await scanSessions(
    read,
    { by, goal: goal && { ...goal, value: null } },
    async (values) => {
      const places = await placesOf(read, by, values, value);
      return { values, listed: { places, isOfConversions: count === "conversions" } };
    },
  );
  if (count === "sessions") return behind;
  const { actors } = behind;
  // The first session of each actor; the sessions of an actor are adjacent.
  const first = behindWhere(behind, (i) => i === 0 || actors[i] !== actors[i - 1]);
  if (count !== "newVisitors") return first;
  const mayBeNew = new Set(newcomers.actors);
  return behindWhere(first, (i) => mayBeNew.has(first.actors[i]!) && isNew(first.actors[i]!));
}

/** Lists the visits, visitors, new visitors or converting actors of an acquisition row. */
export const ACQUISITION_BEHIND: NumberedRead = {
  name: "acquisition",
  parameters: Object.keys(ACQUISITION.parameters),
  ask: (query, listed) => {
    const parameters = readAcquisitionParameters(query);
    const number = readJson(query, "place", AcquisitionNumber)!;
    refuseListed(listed, number.count === "sessions" ? "visits" : "people");
    if (number.count === "conversions" && parameters.slug === null) {
      throw invalidParameter("goal", "Give it too.");
    }
    return { find: (read) => find(read, parameters, number) };
  },
};
