import type { CountLacked, Replica } from "./replica.ts";

/** The services that get stored events counted. */
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
 * Waits, at most `msMax`, until the events stored by now are projected, and until the database that answers
 * reads has them.
 * @returns a function that counts the stored events that a snapshot of that database lacks: these are pending,
 * too
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
