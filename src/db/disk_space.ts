import { statfs } from "node:fs/promises";
import {
  DISK_FULL_BYTES,
  DISK_LOOK_MS,
  DISK_LOW_BYTES_MAX,
  DISK_LOW_BYTES_MIN,
  DISK_LOW_SHARE,
  DISK_SPACE_AGAIN_BYTES,
} from "../limits.ts";

/** `full`: nothing is written any more, so that enough space is left for reads. */
export const DISK_STATUSES = ["ok", "low", "full"] as const;
export type DiskStatus = typeof DISK_STATUSES[number];

export interface DiskReading {
  readonly status: DiskStatus;
  readonly freeBytes: number;
  readonly totalBytes: number;
}

export type DiskProbe = (folder: string) => Promise<{ freeBytes: number; totalBytes: number }>;

const UNKNOWN: DiskReading = { status: "ok", freeBytes: Infinity, totalBytes: Infinity };

const DISK_MESSAGES: Record<DiskStatus, string> = {
  ok: "The disk of the database has room.",
  low: "The disk of the database is nearly full: free some space.",
  full: "The disk of the database is full: nothing is stored until there is space.",
};

export function diskMessage({ status }: DiskReading): string {
  return DISK_MESSAGES[status];
}

/** Returns the status for a number of free bytes. A full disk must get a little more than it lacks, so as not to flap. */
export function diskStatus(freeBytes: number, totalBytes: number, before: DiskStatus): DiskStatus {
  const fullBelow = DISK_FULL_BYTES + (before === "full" ? DISK_SPACE_AGAIN_BYTES : 0);
  if (freeBytes < fullBelow) return "full";
  const share = Math.min(totalBytes * DISK_LOW_SHARE, DISK_LOW_BYTES_MAX);
  return freeBytes < Math.max(share, DISK_LOW_BYTES_MIN) ? "low" : "ok";
}

/** Watches the space on a folder's disk, which it reads twice a second. */
export class DiskSpace {
  #reading = UNKNOWN;
  #listeners: ((reading: DiskReading) => void)[] = [];
  #looking: Promise<void> | null = null;
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(readonly folder: string, readonly probe: DiskProbe = probeDisk) {
    this.#timer = setInterval(() => void this.look(), DISK_LOOK_MS);
    Deno.unrefTimer(Number(this.#timer));
  }

  /** The last reading; a disk that cannot be read counts as one with room. */
  get reading(): DiskReading {
    return this.#reading;
  }

  /** Calls `listener` whenever the status changes. */
  onChange(listener: (reading: DiskReading) => void): void {
    this.#listeners.push(listener);
  }

  look(): Promise<void> {
    return this.#looking ??= this.#look().finally(() => this.#looking = null);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const before = this.#reading.status;
    try {
      const { freeBytes, totalBytes } = await this.probe(this.folder);
      const status = diskStatus(freeBytes, totalBytes, before);
      this.#reading = { status, freeBytes, totalBytes };
    } catch {
      this.#reading = UNKNOWN;
    }
    if (this.#reading.status === before) return;
    for (const listener of this.#listeners) listener(this.#reading);
  }
}

async function probeDisk(folder: string): Promise<{ freeBytes: number; totalBytes: number }> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}
