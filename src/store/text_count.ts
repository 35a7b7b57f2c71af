import type { BlockColumns, CodedColumn } from "./journal_events.ts";
import { TEXT_COLUMNS } from "./segment_columns.ts";

/** Counts the characters of events' texts in memory: a text that several events share counts once. */
export class TextCount {
  /** By column, the number of its first shared value among those of all columns. */
  readonly #starts: readonly number[];
  /** By shared value, the round in which it was last counted. */
  readonly #countedIn: Uint32Array;
  #round = 1;
  #isSharedCounted = false;

  /** @param shared the characters of texts that all events share */
  constructor(private readonly columns: readonly CodedColumn[], private readonly shared = 0) {
    let values = 0;
    this.#starts = columns.map((column) => {
      const start = values;
      if (column.which !== null) values += column.values.length;
      return start;
    });
    this.#countedIn = new Uint32Array(values);
  }

  /** Counts an event. @returns the characters of its texts that no event counted before it has */
  add(place: number): number {
    const countedIn = this.#countedIn;
    let characters = this.#isSharedCounted ? 0 : this.shared;
    this.#isSharedCounted = true;
    for (let c = 0; c < this.columns.length; c++) {
      const { values, which } = this.columns[c]!;
      let value = place;
      if (which !== null) {
        value = which[place]!;
        const at = this.#starts[c]! + value;
        if (countedIn[at] === this.#round) continue;
        countedIn[at] = this.#round;
      }
      characters += (values[value] as string | null)?.length ?? 0;
    }
    return characters;
  }

  /** Returns the characters of the texts of all events, if each value belongs to one of them. */
  total(): number {
    let characters = this.shared;
    for (const { values } of this.columns) {
      for (const value of values) characters += (value as string | null)?.length ?? 0;
    }
    return characters;
  }

  /** Starts over, as if no event had been counted. */
  clear(): void {
    this.#round++;
    this.#isSharedCounted = false;
  }
}

/** Counts the texts of a block's events. */
export function blockTexts({ same, coded }: BlockColumns): TextCount {
  const columns: CodedColumn[] = [];
  let shared = 0;
  for (const name of TEXT_COLUMNS) {
    const column = coded[name];
    if (column === undefined) shared += (same[name] as string | null | undefined)?.length ?? 0;
    else columns.push(column);
  }
  return new TextCount(columns, shared);
}
