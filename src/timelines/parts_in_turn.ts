import type { LoadedSegment } from "./loaded_segment.ts";
import type { MemoryScope } from "./shared_memory.ts";

/** Segments that are in memory together, and the scope of what is read or made for them only. */
export interface ReadPart {
  readonly segments: readonly LoadedSegment[];
  readonly memory: MemoryScope;
}

/** A part that is being visited. */
export interface SegmentsPart extends ReadPart {
  /** Starts reading the next part; called when this one only remains to be visited. */
  readonly readOn: () => void;
}

/** Reads parts one after the other, each when it is asked for or, by `readOn`, before. */
export class PartsInTurn {
  readonly #reads: Iterator<() => Promise<ReadPart>>;
  #next: Promise<ReadPart> | null = null;

  constructor(reads: Iterable<() => Promise<ReadPart>>) {
    this.#reads = reads[Symbol.iterator]();
  }

  /** Yields the parts. A part is freed when the next one is asked for. */
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
    // A failure is thrown to whoever asks for the part.
    this.#next.catch(() => {});
  }
}
