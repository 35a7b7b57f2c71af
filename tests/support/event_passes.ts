import type { EventPasses } from "../../src/scans/event_test.ts";
import type { BotChoice } from "../../src/query/selection.ts";

const CONTEXTS = { exclude: [0, 100], include: [-100, 100], only: [-100, -1] } as const;

/** What passes of names up to 3 and contexts from -2 to 2; `filterBits`: the bits that an event must have. */
export function passesOf(
  bots: BotChoice,
  tables: Pick<EventPasses, "names" | "paths" | "contexts" | "actors">,
  filterBits = 0,
): EventPasses {
  const [contextMin, contextMax] = CONTEXTS[bots];
  const reach = { contextsFrom: -2, contextsTo: 2, termMax: 3 };
  return { ...tables, ...reach, contextMin, contextMax, bits: Int32Array.of(filterBits) };
}
