import type { IntegerColumn } from "../store/integer_codec.ts";
import { TextMap } from "../store/text_map.ts";
import { type Yield, yielding } from "../store/yielding.ts";
import type { PropertyColumn } from "../timelines/property_columns.ts";
import type { Take } from "../timelines/shared_memory.ts";
import type { ValueIds } from "./event_value_ids.ts";
import type { FilteredTimelines } from "./filtered_timelines.ts";
import { Ranking } from "./most_frequent.ts";
import { PROPERTY_TEXT_LENGTH_KEPT } from "./scan_limits.ts";
import { emptyIds, MADE_IDS, NO_ID } from "./value_ids.ts";
import { propertyText, type ValueTexts } from "./value_texts.ts";

/** Values between two checks of the clock. */
const VALUES_UNTIMED = 10_000;

/** Numbers the values of many columns from 1, by their text: 0 stands for no value. */
class ValueNumbers {
  /** By number, from 1; null: the text is long, and is only in the columns. */
  readonly texts: (string | null)[] = [];
  readonly #numberOf = new TextMap<number>(PROPERTY_TEXT_LENGTH_KEPT);

  /** Returns the number of each event's value; 0 where it has none. */
  async idsOf(
    { places, codes, values }: PropertyColumn,
    events: number,
    take: Take,
    turn: Yield,
  ): Promise<IntegerColumn> {
    const numbers = new Int32Array(values.length);
    for (let code = 0; code < values.length; code++) {
      numbers[code] = this.#number(propertyText(values[code]!));
      if (code % VALUES_UNTIMED === 0) await turn();
    }
    const ids = emptyIds(take, this.texts.length, events);
    for (let i = 0; i < places.length; i++) ids[places[i]!] = numbers[codes[i]!]!;
    return ids;
  }

  /** Returns the number of a text; null: no event has it. */
  known(text: string): number | null {
    return this.#numberOf.get(text) ?? null;
  }

  #number(text: string | null): number {
    if (text === null) return NO_ID;
    return this.#numberOf.getOrInsertComputed(
      text,
      () => this.texts.push(text.length <= PROPERTY_TEXT_LENGTH_KEPT ? text : null),
    );
  }
}

/** Takes the long texts of these numbers from the columns, which may have to be read again, part by part. */
async function longTexts(
  { parts }: FilteredTimelines,
  key: string,
  wanted: Set<number>,
  take: (id: number, text: string) => void,
): Promise<void> {
  const turn = yielding();
  for await (const { segments } of parts()) {
    for (const segment of segments) {
      const { places, codes, values } = segment.property(key);
      const ids = segment.column(MADE_IDS) as IntegerColumn;
      for (let i = 0; i < places.length; i++) {
        const id = ids[places[i]!]!;
        if (wanted.delete(id)) take(id, propertyText(values[codes[i]!]!)!);
        if (i % VALUES_UNTIMED === 0) await turn();
      }
      if (wanted.size === 0) return;
    }
  }
}

/** Returns the texts of numbers; with `most`, only that many, the first by byte order. */
async function textsOfNumbers(
  timelines: FilteredTimelines,
  key: string,
  { texts }: ValueNumbers,
  ids: readonly number[],
  most: number | undefined,
): Promise<ValueTexts> {
  const all = new Map<number, string>();
  const first = most === undefined ? null : new Ranking(most);
  const take = (id: number, text: string) => {
    if (first === null) all.set(id, text);
    else first.offer({ text, count: 0, ids: [id] });
  };
  const long = new Set<number>();
  const turn = yielding();
  for (const [i, id] of ids.entries()) {
    const text = id === NO_ID ? undefined : texts[id - 1];
    if (text === null) long.add(id);
    else if (text !== undefined) take(id, text);
    if (i % VALUES_UNTIMED === 0) await turn();
  }
  if (long.size > 0) await longTexts(timelines, key, long, take);
  if (first === null) return all;
  return new Map(first.ranked.map(({ ids: [id], text }) => [id!, text!]));
}

/** Returns the ids of a property's values; the read must have loaded the property. */
export function propertyValueIds(timelines: FilteredTimelines, key: string): ValueIds {
  const numbers = new ValueNumbers();
  timelines.prepare(async ({ segments, memory }) => {
    const turn = yielding();
    for (const segment of segments) {
      const { lazies, times } = segment;
      const ids = await numbers.idsOf(segment.property(key), times.length, memory.take, turn);
      lazies.set(MADE_IDS, ids);
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
    textsOf: (ids, most) => textsOfNumbers(timelines, key, numbers, ids, most),
  };
}
