import type { Project } from "../../src/auth/projects.ts";
import type { ReadParams } from "../reference/filters.ts";
import type { GoalDefinition } from "../reference/goals.ts";
import { timelineOf } from "../reference/people.ts";
import type { ReadName } from "../reference/reads.ts";
import { storyOf } from "../reference/visits.ts";
import type { World } from "../reference/world.ts";
import { differenceOf } from "./answers.ts";
import type { Answer, Store } from "./stored_world.ts";

/** Rows whose stories are read: each takes several reads. */
const STORIES_MAX = 2;
/** Pages of events are longer than those of rows. */
const EVENTS_OF_A_ROW = 4;

/** The members that the reference tells too. */
function toldOf(events: readonly Answer[], members: readonly string[]): Answer[] {
  return events.map((event) =>
    Object.fromEntries(members.map((member) => [member, event[member]]))
  );
}

/** Where the stories of listed visits or people are not the reference's; null where they are. */
export async function storyDifference(
  store: Store,
  project: Project,
  { world, goals }: { readonly world: World; readonly goals: readonly GoalDefinition[] },
  { read, params, pageRows }: {
    readonly read: ReadName;
    readonly params: ReadParams;
    readonly pageRows: number;
  },
  rows: readonly Answer[],
): Promise<string | null> {
  const { from, to, timezone, filters, bots } = params;
  const shared = Object.fromEntries(
    Object.entries({ from, to, timezone, filters, bots })
      .filter(([, value]) => value !== undefined),
  ) as ReadParams;
  const page = { ...shared, limit: pageRows * EVENTS_OF_A_ROW };
  for (const row of rows.slice(0, STORIES_MAX)) {
    const isVisit = read === "visits";
    const id = String(isVisit ? row.id : row.actor);
    const of = isVisit ? "visit" : "person";
    const events = await store.story(project, world.asOfMs, of, id, page);
    const [expected, members] = isVisit
      ? [storyOf(world, id, bots, goals), ["eventId", "secondsToNext", "secondsOnPage", "goals"]]
      : [timelineOf(world, shared, id, goals), ["eventId", "visit", "goals"]];
    const difference = differenceOf(toldOf(events, members), expected, `${read} ${id}`);
    if (difference !== null) return difference;
  }
  return null;
}
