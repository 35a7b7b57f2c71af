import { createHash } from "node:crypto";
import { EVENT_COLUMNS, type EventRow } from "../store/event_row.ts";

/** The count of a set's items, and the set's digest: 64 hexadecimal digits. */
export interface Figures {
  readonly count: number;
  readonly digest: string;
}

const LANES = 8;

/**
 * The digest of a set: the sum of its items' SHA-256, in eight lanes of 32 bits. It does not depend on the
 * order of the items, and items can be added later.
 */
export class Sum {
  #count = 0;
  readonly #lanes = new Uint32Array(LANES);

  add(text: string): void {
    const hash = createHash("sha256").update(text).digest();
    const view = new DataView(hash.buffer, hash.byteOffset, hash.byteLength);
    for (let lane = 0; lane < LANES; lane++) this.#lanes[lane]! += view.getUint32(4 * lane);
    this.#count++;
  }

  /** Adds the figures of another sum. */
  addAll({ count, digest }: Figures): void {
    const view = new DataView(Uint8Array.fromHex(digest).buffer);
    for (let lane = 0; lane < LANES; lane++) this.#lanes[lane]! += view.getUint32(4 * lane);
    this.#count += count;
  }

  get figures(): Figures {
    const bytes = new Uint8Array(4 * LANES);
    const view = new DataView(bytes.buffer);
    this.#lanes.forEach((value, lane) => view.setUint32(4 * lane, value));
    return { count: this.#count, digest: bytes.toHex() };
  }
}

/** Sums by name, in the order in which the names occurred first. */
export class Sums {
  readonly #sums = new Map<string, Sum>();

  of(name: string): Sum {
    return this.#sums.getOrInsertComputed(name, () => new Sum());
  }

  get figures(): Record<string, Figures> {
    return Object.fromEntries([...this.#sums].map(([name, sum]) => [name, sum.figures]));
  }
}

export const NOTHING: Figures = new Sum().figures;

export function areSame(a: Figures, b: Figures): boolean {
  return a.count === b.count && a.digest === b.digest;
}

/** All columns but the project's number, which means nothing in another database. */
const DIGESTED_COLUMNS = EVENT_COLUMNS.filter((name) => name !== "project_id");

/**
 * Returns all stored values of an event as one text, which is the same in every database. Nulls are left out, so
 * that a column of a later version does not change the text of earlier events.
 */
export function eventText(row: EventRow): string {
  const values: unknown[] = [];
  for (const name of DIGESTED_COLUMNS) {
    const value = row[name];
    if (value !== null) values.push(name, value);
  }
  return JSON.stringify(values);
}
