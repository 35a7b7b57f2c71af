import { z } from "zod";
import { type Filter, readJson } from "../../query/filters.ts";
import type { Read } from "../../scans/read.ts";
import { type NumberedRead, PlaceText, refuseListed } from "../behind/behind.ts";
import type { Behind } from "../behind/behind_tally.ts";
import { selectEvents } from "../../scans/selected_events.ts";
import { LONG_MINUTES, SHORT_MINUTES } from "./live.ts";
import { NEWEST_PEOPLE } from "../newest/newest_people_visitor.ts";
import { MINUTE_MS } from "./live_visitor.ts";

const USAGE =
  `Use {"minutes":${SHORT_MINUTES}}, with "path" of a page or without, or {"minutes":${LONG_MINUTES}}.`;

const LiveNumber = z.union([
  z.strictObject({ minutes: z.literal(SHORT_MINUTES), path: PlaceText.optional() }),
  z.strictObject({ minutes: z.literal(LONG_MINUTES) }),
], USAGE);

/** The live number that `of` names: all visitors of the last minutes, or those on a page. */
type LiveNumber = z.output<typeof LiveNumber>;

function pageFilters(number: LiveNumber): Filter[] {
  if (!("path" in number) || number.path === undefined) return [];
  return [{ field: "path", op: "is", values: [number.path] }];
}

async function find(read: Read, number: LiveNumber): Promise<Behind> {
  const { asOfMs } = read;
  const span = { fromMs: asOfMs - number.minutes * MINUTE_MS, toMs: asOfMs + 1 };
  const needed = { filters: pageFilters(number), isCounting: true };
  const { selected, test } = await selectEvents(read, span, needed);
  const inputs = { span, endMs: span.toMs, test, rows: Infinity, edgeMs: NaN };
  const { actors, ms } = await selected.scan(NEWEST_PEOPLE, () => inputs);
  return { actors: Int32Array.from(actors), ms: Float64Array.from(ms) };
}

/** Lists the visitors of the last minutes, whatever the range of the list. */
export const LIVE_VISITORS: NumberedRead = {
  name: "live",
  parameters: [],
  ask: (query, listed) => {
    refuseListed(listed, "people");
    const number = readJson(query, "place", LiveNumber)!;
    const matches = [{ name: null, filters: pageFilters(number) }];
    return { find: (read) => find(read, number), matches };
  },
};
