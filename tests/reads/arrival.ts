import fc from "fast-check";
import type { Project } from "../../src/auth/projects.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { SITE_URLS, TIMEZONES } from "../reference/random_history.ts";
import type { World } from "../reference/world.ts";
import type { Store } from "./stored_world.ts";

/** One flush, and what happens after it. */
interface Part {
  readonly rows: readonly EventRow[];
  /** Rows that were stored before, which now say something else. */
  readonly replayed: readonly EventRow[];
  readonly thenProjected: boolean;
}

/** In which order and in which parts a history is stored, and of which project. */
export interface Arrival {
  /** The project's settings while the first half arrives. */
  readonly before: World["project"];
  readonly parts: readonly Part[];
}

/** An arrival of these events: in any order, some of them again, projected now and then. */
export function randomArrival({ events, project }: World): fc.Arbitrary<Arrival> {
  const settings = fc.record({
    timezone: fc.constantFrom(...TIMEZONES),
    siteUrl: fc.constantFrom(...SITE_URLS),
  });
  return fc.noBias(fc.record({
    before: fc.option(settings, { freq: 1 }),
    order: fc.shuffledSubarray([...events], { minLength: events.length }),
    sizes: fc.infiniteStream(fc.constantFrom(1, 2, 3, 5, 10, 30, 80)),
    replays: fc.infiniteStream(fc.constantFrom(0, 0, 1, 3)),
    projects: fc.infiniteStream(fc.boolean()),
  })).map(({ before, order, sizes, replays, projects }) => {
    const parts: Part[] = [];
    for (let start = 0; start < order.length;) {
      const end = start + sizes.next().value!;
      parts.push({
        rows: order.slice(start, end),
        replayed: order.slice(0, Math.min(start, replays.next().value!))
          .map((row) => ({ ...row, name: "replayed", path: "/replayed", user_id: "replayed" })),
        thenProjected: projects.next().value!,
      });
      start = end;
    }
    return { before: before ?? project, parts };
  });
}

/** Stores a world as it arrives. @returns the project that it is in */
export async function storeAsItArrives(
  store: Store,
  { project: settings }: World,
  { before, parts }: Arrival,
): Promise<Project> {
  let project = await store.newProject(before);
  const half = Math.floor(parts.length / 2);
  for (const [i, { rows, replayed, thenProjected }] of parts.entries()) {
    if (i === half) project = await store.change(project, settings);
    await store.insert(project, [...replayed, ...rows]);
    if (thenProjected) await store.projectPending(project);
  }
  return parts.length === 0 ? await store.change(project, settings) : project;
}
