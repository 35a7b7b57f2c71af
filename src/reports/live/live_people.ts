import { z } from "zod";
import { type Filter, readJson } from "../../query/filters.ts";
import { type NumberedRead, PlaceText, refuseListed } from "../behind/behind.ts";
import { selectEvents } from "../../scans/selected_events.ts";
import { LONG_MINUTES, SHORT_MINUTES } from "./live.ts";
import { NEWEST_PEOPLE } from "../newest/newest_people_visitor.ts";
import { MINUTE_MS } from "./live_visitor.ts";

const USAGE =
  `Use {"minutes":${SHORT_MINUTES}}, with "path" of a page or without, or {"minutes":${LONG_MINUTES}}.`;

/** The live number that `of` names: all visitors of the last minutes, or those on a page. */
const LiveNumber = z.union([
  z.strictObject({ minutes: z.literal(SHORT_MINUTES), path: PlaceText.optional() }),
  z.strictObject({ minutes: z.literal(LONG_MINUTES) }),
], USAGE);

/** Lists the visitors of the last minutes, whatever the range of the list. */
export const LIVE_VISITORS: NumberedRead = {
  name: "live",
  parameters: [],
  ask: (query, listed) => {
    refuseListed(listed, "people");
    const number = readJson(query, "place", LiveNumber)!;
    const paths = "path" in number ? [number.path].filter((path) => path !== undefined) : [];
    const filters = paths.map((path): Filter => ({ field: "path", op: "is", values: [path] }));
    return {
      matches: [{ name: null, filters }],
      find: async (read) => {
        const { asOfMs } = read;
        const span = { fromMs: asOfMs - number.minutes * MINUTE_MS, toMs: asOfMs + 1 };
        const { selected, test } = await selectEvents(read, span, { filters, isCounting: true });
        const inputs = { span, endMs: span.toMs, test, rows: Infinity, edgeMs: NaN };
        const { actors, ms } = await selected.scan(NEWEST_PEOPLE, () => inputs);
        return { actors: Int32Array.from(actors), ms: Float64Array.from(ms) };
      },
    };
  },
};
