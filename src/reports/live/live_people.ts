import { z } from "zod";
import { type Filter, readJson } from "../../query/filters.ts";
import type { Read } from "../../scans/read.ts";
import { type NumberedRead, PlaceText, refuseListed } from "../behind/behind.ts";
import type { Behind } from "../behind/behind_tally.ts";
import { askingOf } from "../answer/report.ts";
import { selectEvents } from "../visitors/selected_events.ts";
import { LONG_MINUTES, SHORT_MINUTES } from "./live.ts";
import { NEWEST_PEOPLE } from "../newest/newest_people_visitor.ts";
import { MINUTE_MS } from "./live_visitor.ts";

const USAGE =
  `Use {"minutes":${SHORT_MINUTES}}, with "path" of a page or without, or {"minutes":${LONG_MINUTES}}.`;

const Place = z.union([
  z.strictObject({ minutes: z.literal(SHORT_MINUTES), path: PlaceText.optional() }),
  z.strictObject({ minutes: z.literal(LONG_MINUTES) }),
], USAGE);

/** Who was there in the last minutes, or on a page of them. */
type Place = z.output<typeof Place>;

/** Those on a page, as a filter. */
function pageOf(place: Place): Filter[] {
  if (!("path" in place) || place.path === undefined) return [];
  return [{ field: "path", op: "is", values: [place.path] }];
}

async function find(read: Read, place: Place): Promise<Behind> {
  const { asOfMs } = read;
  const span = { fromMs: asOfMs - place.minutes * MINUTE_MS, toMs: asOfMs + 1 };
  const needed = { filters: pageOf(place), isCounting: true };
  const { selected, test } = await selectEvents(read, span, needed);
  const inputs = { span, endMs: span.toMs, test, rows: Infinity, edgeMs: NaN };
  const { actors, ms } = await selected.scan(NEWEST_PEOPLE, () => inputs);
  return { actors: Int32Array.from(actors), ms: Float64Array.from(ms) };
}

/** The visitors of the last minutes, whatever range the list has. */
export const LIVE_VISITORS: NumberedRead = {
  name: "live",
  parameters: [],
  ask: (query, listed) => {
    refuseListed(listed, "people");
    const place = readJson(query, "place", Place)!;
    return {
      find: (read) => find(read, place),
      asking: askingOf({ of: [{ name: null, filters: pageOf(place) }] }),
    };
  },
};
