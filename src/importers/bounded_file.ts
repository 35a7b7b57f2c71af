import { FileProblem } from "./file_problem.ts";
import type { ByteSource, InputFile } from "./input_file.ts";

/** How long a file may be processed, and how many bytes of it may be read in total. */
export interface ReadBounds {
  readonly ms: number;
  readonly bytes: number;
}

/**
 * A file that can be read only within bounds, from when this object is made: some formats are read several
 * times, and packed content becomes hundreds of times as large. Reads throw FileProblem once a bound is passed.
 */
export class BoundedFile implements InputFile {
  readonly name: string;
  readonly size: number;
  readonly #file: InputFile;
  readonly #untilMs: number;
  #bytesLeft: number;

  constructor(file: InputFile, { ms, bytes }: ReadBounds) {
    this.name = file.name;
    this.size = file.size;
    this.#file = file;
    this.#untilMs = performance.now() + ms;
    this.#bytesLeft = bytes;
  }

  /** Throws FileProblem if a bound is passed. */
  assertWithin(): void {
    if (performance.now() <= this.#untilMs && this.#bytesLeft >= 0) return;
    throw new FileProblem(this.name, "it takes too long here: import it by the command line.");
  }

  async *read(start: number, end: number): ByteSource {
    for await (const chunk of this.#file.read(start, end)) {
      this.#bytesLeft -= chunk.length;
      this.assertWithin();
      yield chunk;
    }
  }
}
