import type { LoadedSegment } from "./loaded_segment.ts";
import type { MemoryScope } from "./shared_memory.ts";

/** Segments that are in memory together, and where they lie. */
export interface ReadPart {
  readonly segments: readonly LoadedSegment[];
  readonly memory: MemoryScope;
}

/** Segments that are in memory together. */
export interface SegmentsPart extends ReadPart {
  /** Has the next part read meanwhile: called once this one is but visited. */
  readonly readOn: () => void;
}

/** Reads parts one after the other, each when it is asked for or, if that is wished, before. */
export class PartsInTurn {
  readonly #reads: Iterator<() => Promise<ReadPart>>;
  #next: Promise<ReadPart> | null = null;

  constructor(reads: Iterable<() => Promise<ReadPart>>) {
    this.#reads = reads[Symbol.iterator]();
  }

  /** A part is gone when the next is asked for. */
  async *parts(): AsyncGenerator<SegmentsPart> {
    try {
      for (;;) {
        this.#readOn();
        if (this.#next === null) return;
        const part = await this.#next;
        this.#next = null;
        try {
          yield { ...part, readOn: () => this.#readOn() };
        } finally {
          part.memory.release();
        }
      }
    } finally {
      const unused = await this.#next?.catch(() => null);
      unused?.memory.release();
    }
  }

  #readOn(): void {
    if (this.#next !== null) return;
    const { done, value: read } = this.#reads.next();
    if (done === true) return;
    this.#next = read();
    // Why it failed is told to whoever asks for it.
    this.#next.catch(() => {});
  }
}
