import type { IntegerColumn } from "../store/integer_codec.ts";
import { TextMap } from "../store/text_map.ts";
import { type Yield, yielding } from "../store/yielding.ts";
import type { PropertyColumn } from "../timelines/property_columns.ts";
import { sharedColumn } from "../timelines/shared_memory.ts";
import type { ValueIds } from "./event_value_ids.ts";
import type { FilteredTimelines } from "./filtered_timelines.ts";
import { emptyIds, MADE_IDS, NO_ID } from "./value_ids.ts";
import { propertyText } from "./value_texts.ts";

/** Values between two looks at the clock. */
const VALUES_UNTIMED = 10_000;

/** Numbers the values of many columns from 1, by their text: 0 stands for no value. */
class ValueNumbers {
  readonly texts: string[] = [];
  readonly #numberOf = new TextMap<number>();

  /** Returns the number of each event's value; 0 where it has none. */
  async idsOf(
    { places, codes, values }: PropertyColumn,
    events: number,
    turn: Yield,
  ): Promise<IntegerColumn> {
    const numbers = new Int32Array(values.length);
    for (let code = 0; code < values.length; code++) {
      numbers[code] = this.#number(propertyText(values[code]!));
      if (code % VALUES_UNTIMED === 0) await turn();
    }
    const ids = emptyIds(this.texts.length, events);
    for (let i = 0; i < places.length; i++) ids[places[i]!] = numbers[codes[i]!]!;
    return ids;
  }

  /** Returns the number of a text; null: no event has it. */
  known(text: string): number | null {
    return this.#numberOf.get(text) ?? null;
  }

  #number(text: string | null): number {
    if (text === null) return NO_ID;
    const known = this.#numberOf.get(text);
    if (known !== undefined) return known;
    const number = this.texts.push(text);
    this.#numberOf.set(text, number);
    return number;
  }
}

/** Returns the ids of a property's values; the read must have loaded the property. */
export function propertyValueIds({ prepare }: FilteredTimelines, key: string): ValueIds {
  const numbers = new ValueNumbers();
  prepare(async ({ segments, memory }) => {
    const turn = yielding();
    for (const segment of segments) {
      const ids = await numbers.idsOf(segment.property(key), segment.times.length, turn);
      segment.lazies.set(MADE_IDS, sharedColumn(memory.take, ids));
    }
  });
  return {
    from: MADE_IDS,
    idsFrom: NO_ID,
    get idMax() {
      return numbers.texts.length;
    },
    idsOf: (values) =>
      Promise.resolve(
        new Map(values.flatMap((value) => {
          const id = numbers.known(value);
          return id === null ? [] : [[id, value]];
        })),
      ),
    users: null,
    textsOf: (ids) =>
      Promise.resolve(
        new Map(ids.flatMap((id) => id === NO_ID ? [] : [[id, numbers.texts[id - 1]!]])),
      ),
  };
}
