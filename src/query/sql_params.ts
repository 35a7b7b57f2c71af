import { arrayLiteral, type Param } from "../db/sql.ts";

/**
 * Collects the parameters of one statement, so that no value is ever spliced into SQL. Each method
 * adds a value and returns its placeholder with the cast.
 */
export class SqlParams {
  readonly values: Param[] = [];

  text(value: string | null): string {
    return this.#add(value, "text");
  }

  int(value: number): string {
    return this.#add(value, "int");
  }

  /** Epoch milliseconds. Ticks do not fit a JavaScript number: shift them in SQL, `… << 16`. */
  ms(value: number): string {
    return this.#add(value, "int8");
  }

  float(value: number): string {
    return this.#add(value, "float8");
  }

  texts(values: readonly string[]): string {
    return this.#add(arrayLiteral(values), "text::text[]");
  }

  ints(values: readonly number[]): string {
    return this.#add(arrayLiteral(values), "text::int[]");
  }

  bigints(values: readonly number[]): string {
    return this.#add(arrayLiteral(values), "text::int8[]");
  }

  uuids(values: readonly string[]): string {
    return this.#add(arrayLiteral(values), "text::uuid[]");
  }

  #add(value: Param, type: string): string {
    return `$${this.values.push(value)}::${type}`;
  }
}
