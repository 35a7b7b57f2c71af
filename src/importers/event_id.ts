import { createHash } from "node:crypto";
import { RecentCache } from "../recent_cache.ts";
import { EQUAL_ROWS_REMEMBERED } from "./importer_limits.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const NIL = "00000000-0000-0000-0000-000000000000";
const VERSION_AT = 12;
const VERSION = "8";
const VARIANT_AT = 16;

/** Returns the first 128 bits of a hash as a UUID of version 8. */
function uuidOf(hex: string): string {
  const variant = ((parseInt(hex[VARIANT_AT]!, 16) & 0x3) | 0x8).toString(16);
  const digits = hex.slice(0, VERSION_AT) + VERSION + hex.slice(VERSION_AT + 1, VARIANT_AT) +
    variant + hex.slice(VARIANT_AT + 1, 32);
  return [[0, 8], [8, 12], [12, 16], [16, 20], [20, 32]]
    .map(([from, to]) => digits.slice(from, to)).join("-");
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** Makes the ids of events of another product. */
export class EventIds {
  /** How often each row was seen; after a million other rows, an equal row counts as new. */
  readonly #seen = new RecentCache<string, number>(EQUAL_ROWS_REMEMBERED);

  constructor(
    /** Part of the hashes; it is the name of the protocol where that product's clients speak one. */
    readonly source: string,
    /** The project's public id, `prj_…`. */
    readonly project: string,
  ) {}

  /** Begins a file: its rows that equal those of another file are the same events. */
  newFile(): void {
    this.#seen.clear();
  }

  /** Returns their id if it is a UUID, else one made of a hash of source, project and their id. */
  fromTheirs(id: string): string {
    if (UUID.test(id) && id !== NIL) return id.toLowerCase();
    return uuidOf(sha256(`${this.source}\0${this.project}\0${id}`));
  }

  /**
   * Returns the id of a row without one: a hash of what identifies it, and of its number among equal rows of
   * the file. Equal rows are numbered in their order, so that a later, longer export of the same rows gets
   * the same ids.
   */
  fromRow(known: unknown): string {
    const hash = sha256(`${this.source}\0${this.project}\0row\0${JSON.stringify(known)}`);
    const before = this.#seen.get(hash) ?? 0;
    this.#seen.set(hash, before + 1);
    return uuidOf(before === 0 ? hash : sha256(`${hash}\0${before}`));
  }
}
