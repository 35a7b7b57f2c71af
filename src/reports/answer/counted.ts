import type { CountLacked, Replica } from "./replica.ts";

/** What makes the events that are stored by now countable. */
export interface Counting {
  /** Projects what is pending: all of it, or as much as `msMax` milliseconds allow. */
  readonly projection: {
    catchUp(projectId: number): Promise<void>;
    catchUpWithin(projectId: number, msMax: number): Promise<void>;
  };
  /** Absent or null: reads ask the database that is written to. */
  readonly replica?: Replica | null;
}

export const NOTHING_LACKED: CountLacked = () => Promise.resolve(0);

/**
 * Waits at most `msMax` until what is stored by now is projected, and until the database that answers reads
 * has that.
 * @returns what counts the stored events that a snapshot of that database lacks: they are pending, and it does not
 * know of them
 */
export async function countedWithin(
  { projection, replica }: Counting,
  projectId: number,
  msMax: number,
): Promise<CountLacked> {
  const endsAtMs = performance.now() + msMax;
  await projection.catchUpWithin(projectId, msMax);
  return await replica?.lagging([projectId], endsAtMs - performance.now()) ?? NOTHING_LACKED;
}
