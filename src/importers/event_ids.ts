import { foreignEventId, sha256, uuidOfHash } from "../event_id.ts";
import { RecentCache } from "../recent_cache.ts";
import { EQUAL_ROWS_REMEMBERED } from "./importer_limits.ts";

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

  /** Begins a file. Rows that equal those of another file are the same events, so counting starts anew. */
  newFile(): void {
    this.#seen.clear();
  }

  /** Returns the id of an event that has one in the other product: see `foreignEventId`. */
  fromTheirs(id: string): string {
    return foreignEventId(this.source, this.project, id);
  }

  /**
   * Returns the id of a row without one: a hash of what identifies the row, and of its number among equal rows
   * of the file. They are numbered in their order, so that rows have the same ids in a later, longer export.
   */
  fromRow(identifying: unknown): string {
    const hash = sha256(`${this.source}\0${this.project}\0row\0${JSON.stringify(identifying)}`);
    const before = this.#seen.get(hash) ?? 0;
    this.#seen.set(hash, before + 1);
    return uuidOfHash(before === 0 ? hash : sha256(`${hash}\0${before}`));
  }
}
