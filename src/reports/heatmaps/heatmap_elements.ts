import { z } from "zod";
import type { LazyColumn } from "../../timelines/lazy_columns.ts";
import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { PropertyColumn } from "../../timelines/property_columns.ts";
import { HEATMAP_ELEMENTS_MAX } from "../../limits.ts";
import { invalidParameter } from "../../query/parameters.ts";
import { entryFrom } from "../../scans/property_entries.ts";
import { compareBytes, propertyText } from "../../scans/value_texts.ts";
import { ActorCounts } from "../actor_counts.ts";

/** What was clicked, by the selector that the click carries. */
export const ElementShown = z.object({
  selector: z.string(),
  count: z.int().meta({ description: "Clicks on the element, those without a position too." }),
  visitors: z.int(),
}).meta({ id: "HeatmapElement" });

/** `elements`: how many are listed; none by default, for each click is looked up for them. */
export function readElements(query: URLSearchParams): number {
  const value = query.get("elements");
  if (value === null || value === "") return 0;
  const count = Number(value);
  if (!/^\d{1,4}$/.test(value) || count > HEATMAP_ELEMENTS_MAX) {
    throw invalidParameter("elements", `Use a whole number from 0 to ${HEATMAP_ELEMENTS_MAX}.`);
  }
  return count;
}

/** The property of clicks that says what was clicked. */
const SELECTOR = "selector";
export const ELEMENT_COLUMNS: readonly LazyColumn[] = [{ property: SELECTOR }];

/** Counts the clicks of each element. */
export class ElementCounts {
  readonly #counts = new ActorCounts<string>();
  /** Of each column the texts of its values, as far as they were met; null: it is none. */
  readonly #texts = new WeakMap<PropertyColumn, (string | null | undefined)[]>();

  /** Adds a click of a segment that has `ELEMENT_COLUMNS`. */
  add(actor: number, segment: LoadedSegment, at: number): void {
    const column = segment.property(SELECTOR);
    const entry = entryFrom(column.places, at, 0);
    if (column.places[entry] !== at) return;
    const selector = this.#textOf(column, column.codes[entry]!);
    if (selector !== null) this.#counts.add(selector, actor);
  }

  #textOf(column: PropertyColumn, code: number): string | null {
    let texts = this.#texts.get(column);
    if (texts === undefined) this.#texts.set(column, texts = []);
    return texts[code] ??= propertyText(column.values[code]!);
  }

  /** The elements with most of the clicks, most first, that so many visitors clicked. */
  first(rows: number, visitorsMin: number): z.output<typeof ElementShown>[] {
    return this.#counts.first(rows, compareBytes, visitorsMin)
      .map(({ key, count, visitors }) => ({ selector: key, count, visitors }));
  }
}
