import type { KeptJournalBlock } from "../store/journal_events.ts";
import { countWhile } from "../store/segment_head.ts";
import { type CacheBudget, WeighedCache } from "./weighed_cache.ts";

/** A kept block with the row of the journal that it is of. */
interface KeptRow {
  readonly projectId: number;
  readonly journalId: number;
  readonly block: KeptJournalBlock;
}

const keyOf = (projectId: number, journalId: number) => `${projectId} ${journalId}`;

function isBefore(a: KeptRow, b: KeptRow): boolean {
  const [aMs, bMs] = [a.block.toMs, b.block.toMs];
  return aMs < bMs || aMs === bMs && a.journalId < b.journalId;
}

/**
 * Decoded blocks of the journal, in memory. Those of a project are also in the order of their ends: of a site with few
 * visitors at a time they have an event or two each, and thousands are kept.
 */
export class JournalBlocks {
  readonly #rows: WeighedCache<string, KeptRow>;
  /** By project; of equal ends, the one with the smaller number first. */
  readonly #ordered = new Map<number, KeptRow[]>();

  /** @param budget shared with other caches; absent: this cache has its own */
  constructor(bytesMax: number, budget?: CacheBudget) {
    const leave = (row: KeptRow) => this.#leave(row);
    this.#rows = new WeighedCache(bytesMax, ({ block }) => block.bytes, leave, budget);
  }

  /** Returns the block of a row, if it is kept, which counts as a use. */
  get(projectId: number, journalId: number): KeptJournalBlock | undefined {
    return this.#rows.get(keyOf(projectId, journalId))?.block;
  }

  /** Keeps the block of a row, in place of the one it had, unless it is too large. */
  set(projectId: number, journalId: number, block: KeptJournalBlock): void {
    const row = { projectId, journalId, block };
    if (!this.#rows.set(keyOf(projectId, journalId), row)) return;
    const ordered = this.#ordered.getOrInsertComputed(projectId, () => []);
    ordered.splice(countWhile(ordered.length, (i) => isBefore(ordered[i]!, row)), 0, row);
  }

  /**
   * Returns the kept blocks of a project that end nearest to a moment, by the number of their row, which does not
   * count as a use.
   * @param before how many of those that end before it
   * @param after how many of the others
   */
  near(
    projectId: number,
    ms: number,
    before: number,
    after: number,
  ): Map<number, KeptJournalBlock> {
    const ordered = this.#ordered.get(projectId) ?? [];
    const at = countWhile(ordered.length, (i) => ordered[i]!.block.toMs < ms);
    const near = ordered.slice(Math.max(0, at - before), at + after);
    return new Map(near.map(({ journalId, block }) => [journalId, block]));
  }

  #leave(row: KeptRow): void {
    const { projectId } = row;
    const ordered = this.#ordered.get(projectId)!;
    ordered.splice(countWhile(ordered.length, (i) => isBefore(ordered[i]!, row)), 1);
    if (ordered.length === 0) this.#ordered.delete(projectId);
  }
}
