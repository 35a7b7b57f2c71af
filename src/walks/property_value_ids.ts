import type { IntegerColumn } from "../histories/column.ts";
import type { LoadedSegment } from "../histories/loaded_segment.ts";
import { Pace } from "../histories/pace.ts";
import type { PropertyColumn } from "../histories/property_columns.ts";
import { PROPERTY_COMPARED_LENGTH_MAX } from "../limits.ts";
import { jsonText } from "../selection/field_values.ts";
import type { SqlParams } from "../selection/sql_params.ts";
import type { MarkedHistories, PropertyOfSegments } from "./marked_histories.ts";
import {
  type CountedIds,
  type CountedSql,
  emptyIds,
  idsIn,
  NO_ID,
  type ValueIds,
} from "./value_ids.ts";

/** Values between two looks at the clock. */
const VALUES_UNTIMED = 10_000;

/** Numbers values of many columns, those that JSON writes alike the same: from 1, as 0 is no value. */
class ValueNumbers {
  readonly values: string[] = [];
  readonly #numberOf = new Map<string, number>();
  readonly #pace = new Pace();
  #length = 0;

  /** The number of each of a column's values; null where all together are too long to be compared. */
  async ofColumn({ values }: PropertyColumn): Promise<Int32Array | null> {
    const numbers = new Int32Array(values.length);
    for (let code = 0; code < values.length; code++) {
      numbers[code] = this.#number(values[code]!);
      if (this.#length > PROPERTY_COMPARED_LENGTH_MAX) return null;
      if (code % VALUES_UNTIMED === 0 && this.#pace.isOver()) await this.#pace.pause();
    }
    return numbers;
  }

  #number(value: string): number {
    const known = this.#numberOf.get(value);
    if (known !== undefined) return known;
    this.#length += value.length;
    const number = this.values.push(value);
    this.#numberOf.set(value, number);
    return number;
  }
}

/** The number of the value beside each event that has one. */
async function writeIds(
  columns: PropertyOfSegments,
  numbers: ReadonlyMap<PropertyColumn, Int32Array>,
  idMax: number,
): Promise<Map<LoadedSegment, IntegerColumn>> {
  const written = new Map<LoadedSegment, IntegerColumn>();
  const pace = new Pace();
  for (const [segment, column] of columns) {
    const { places, codes } = column;
    const numberOf = numbers.get(column)!;
    const ids = emptyIds(idMax, segment.times.length);
    for (let i = 0; i < places.length; i++) ids[places[i]!] = numberOf[codes[i]!]!;
    written.set(segment, ids);
    if (pace.isOver()) await pace.pause();
  }
  return written;
}

/** Several JSON values may show as the same text, such as 1 and "1": the database tells the text of each. */
function listValues(
  params: SqlParams,
  { ids, counts }: CountedIds,
  values: readonly string[],
): CountedSql {
  const json = params.texts(ids.map((id) => id === NO_ID ? "null" : values[id - 1]!));
  const rows = `unnest(${params.ints(ids)}, ${params.bigints(counts)}, ${json})`;
  return { from: `${rows} AS f (id, events, json)`, alias: "f", value: jsonText("f.json::jsonb") };
}

/** The ids of a property's values; null where histories do not hold it, or there are too many. */
export async function propertyValueIds(
  histories: MarkedHistories,
  key: string,
): Promise<ValueIds | null> {
  const columns = await histories.property(key);
  if (columns === null) return null;
  const numbered = new ValueNumbers();
  const numbers = new Map<PropertyColumn, Int32Array>();
  for (const column of columns.values()) {
    const ofColumn = await numbered.ofColumn(column);
    if (ofColumn === null) return null;
    numbers.set(column, ofColumn);
  }
  const { values } = numbered;
  return {
    idsOf: idsIn(await writeIds(columns, numbers, values.length)),
    idsFrom: NO_ID,
    idMax: values.length,
    areShared: true,
    users: null,
    list: (params, counted) => listValues(params, counted, values),
  };
}
