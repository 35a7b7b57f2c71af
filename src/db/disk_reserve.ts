import { join } from "node:path";
import { DISK_RESERVE_BYTES } from "../limits.ts";

const CHUNK_BYTES = 2 ** 20;

/**
 * Room in a folder that nobody else can take: a file of zeros. An engine that has to recover needs
 * room for its log; on a disk that others have filled, giving the file up is what lets it start.
 */
export class DiskReserve {
  readonly #path: string;
  #making: Promise<void> | null = null;

  constructor(folder: string) {
    this.#path = join(folder, "reserve");
  }

  /** Makes the file where there is none. A failure leaves none: the next call tries again. */
  make(): Promise<void> {
    return this.#making ??= this.#make().catch(() => this.giveUp()).then(() => {})
      .finally(() => this.#making = null);
  }

  /** Whether there was a file, which is gone now. */
  async giveUp(): Promise<boolean> {
    return await Deno.remove(this.#path).then(() => true, () => false);
  }

  async #make(): Promise<void> {
    const size = await Deno.stat(this.#path).then((file) => file.size, () => 0);
    if (size === DISK_RESERVE_BYTES) return;
    using file = await Deno.open(this.#path, { write: true, create: true, mode: 0o600 });
    const zeros = new Uint8Array(CHUNK_BYTES);
    for (let bytes = 0; bytes < DISK_RESERVE_BYTES; bytes += CHUNK_BYTES) {
      for (let at = 0; at < zeros.length;) at += await file.write(zeros.subarray(at));
    }
  }
}
