import { join } from "node:path";
import { DISK_RESERVE_BYTES } from "../limits.ts";

const CHUNK_BYTES = 2 ** 20;

/**
 * Reserved room on a folder's disk: a file of zeros. An engine that recovers needs room for its log; on a
 * full disk it can start once this file is deleted.
 */
export class DiskReserve {
  readonly #path: string;
  #making: Promise<void> | null = null;

  constructor(folder: string) {
    this.#path = join(folder, "reserve");
  }

  /** Makes the file if there is none. A failure leaves no file, and the next call tries again. */
  make(): Promise<void> {
    return this.#making ??= this.#make().catch(() => this.giveUp()).then(() => {})
      .finally(() => this.#making = null);
  }

  /** Deletes the file. @returns whether there was one */
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
