import { z } from "zod";
import type { AcquisitionDimension } from "../../attribution/dimensions.ts";
import { readJson } from "../../query/filters.ts";
import { invalidParameter } from "../../query/parameters.ts";
import { listedValue } from "../../query/selection.ts";
import { SqlParams } from "../../query/sql_params.ts";
import type { Read } from "../../scans/read.ts";
import { type NumberedRead, PlaceText, refuseListed } from "../behind/behind.ts";
import { type Behind, behindWhere } from "../behind/behind_tally.ts";
import { loadAskedGoal } from "../saved/goal_definitions.ts";
import { idOfSession, type NumberedValues } from "../visitors/session_values.ts";
import { ACQUISITION, readAcquisitionParameters } from "./acquisition.ts";
import { scanSessions } from "./acquisition_scan.ts";

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
