import { z } from "zod";
import type { Sql } from "../../db/sql.ts";
import { readJson } from "../../query/filters.ts";
import { invalidParameter } from "../../query/parameters.ts";
import { sessionValue } from "../../query/selection.ts";
import { SqlParams } from "../../query/sql_params.ts";
import { spanOf } from "../../query/range.ts";
import type { Read } from "../../scans/read.ts";
import { type Listed, type NumberedRead, PlaceText, refuseListed } from "../behind/behind.ts";
import { type Behind, behindWhere } from "../behind/behind_tally.ts";
import { loadAskedGoal } from "../saved/goal_definitions.ts";
import { idOfSession, type NumberedValues } from "../visitors/session_values.ts";
import { ACQUISITION, type Own, readOwn } from "./acquisition.ts";
import { type Asked, scanSessions } from "./acquisition_scan.ts";

const COUNTS = ["visitors", "newVisitors", "sessions", "conversions"] as const;

const Place = z.strictObject({
  value: PlaceText.nullable(),
  count: z.enum(COUNTS, `Use one of ${COUNTS.join(", ")}.`),
});

/** A number of the row of a value. */
type Place = z.output<typeof Place>;

/** The places of a value: 1 at each. */
async function placesOf(
  sql: Sql,
  { scope: { projectId }, by }: Asked,
  { idOf }: NumberedValues,
  wanted: string | null,
): Promise<Uint8Array> {
  const params = new SqlParams();
  const { joins, value } = sessionValue(by);
  const lists = [params.ints([...idOf.keys()]), params.ints([...idOf])];
  const rows = await sql.query<{ number: number }>(
    `SELECT s.number FROM (
      SELECT *, ${params.int(projectId)} AS project_id
      FROM unnest(${lists.join(", ")}) AS listed (number, ${idOfSession(by)})
    ) AS s ${joins} WHERE ${value} IS NOT DISTINCT FROM ${params.text(wanted)}`,
    params.values,
  );
  const places = new Uint8Array(idOf.length + 1);
  for (const { number } of rows) places[number + 1] = 1;
  return places;
}

/** Of each actor the first: an actor's sessions lie one behind the other. */
function firstOfEach(behind: Behind): Behind {
  return behindWhere(behind, (i) => i === 0 || behind.actors[i] !== behind.actors[i - 1]);
}

async function askedOf(read: Read, { by, slug }: Own): Promise<Asked> {
  const { sql, scope, range } = read;
  const goal = await loadAskedGoal(sql, scope.projectId, slug);
  const span = spanOf(range);
  return { scope, span, by, goal: goal?.match ?? null, value: null };
}

async function find(read: Read, own: Own, { value, count }: Place): Promise<Behind> {
  const asked = await askedOf(read, own);
  const { counts: { behind, newcomers }, isNew } = await scanSessions(
    read,
    asked,
    async (values) => {
      const places = await placesOf(read.sql, asked, values, value);
      return { values, told: { places, isOfConversions: count === "conversions" } };
    },
  );
  if (count === "sessions") return behind;
  const first = firstOfEach(behind);
  if (count !== "newVisitors") return first;
  const mayBeNew = new Set(newcomers.actors);
  return behindWhere(first, (i) => mayBeNew.has(first.actors[i]!) && isNew(first.actors[i]!));
}

function refusePlace({ count }: Place, { slug }: Own, listed: Listed): void {
  refuseListed(listed, count === "sessions" ? "visits" : "people");
  if (count === "conversions" && slug === null) throw invalidParameter("goal", "Give it too.");
}

/** The visits of a row of acquisition, its visitors, those of them who are new, and who converted. */
export const ACQUISITION_BEHIND: NumberedRead = {
  name: "acquisition",
  parameters: Object.keys(ACQUISITION.parameters),
  ask: (query, listed) => {
    const own = readOwn(query);
    const place = readJson(query, "place", Place)!;
    refusePlace(place, own, listed);
    return { find: (read) => find(read, own, place), asking: [] };
  },
};
