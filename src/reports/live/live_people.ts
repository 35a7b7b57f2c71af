import { z } from "zod";
import { type Filter, readJson } from "../../query/filters.ts";
import { withoutTechnical } from "../../query/technical.ts";
import { eventPassesOf } from "../../scans/event_tests.ts";
import type { Read } from "../../scans/read.ts";
import { selectTimelines } from "../../scans/selected_timelines.ts";
import { type NumberedRead, PlaceText, refuseListed } from "../behind.ts";
import type { Behind } from "../behind_tally.ts";
import { askingOf } from "../report.ts";
import { LONG_MINUTES, SHORT_MINUTES } from "./live.ts";
import { LIVE_PEOPLE, MINUTE_MS } from "./live_visitor.ts";

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
  const { sql, scope, asOfMs } = read;
  const fromMs = asOfMs - place.minutes * MINUTE_MS;
  const page = pageOf(place);
  const span = { fromMs, toMs: asOfMs + 1 };
  const selected = await selectTimelines(read, span, { filters: page });
  const { timelines: { bits }, eventFilters } = selected;
  const counting = [...withoutTechnical(eventFilters), ...page];
  const test = await eventPassesOf(sql, scope, scope.bots, counting, bits);
  return await selected.scan(LIVE_PEOPLE, () => ({ test, fromMs, asOfMs }));
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
