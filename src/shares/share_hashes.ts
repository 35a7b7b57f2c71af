import { retryable } from "../problem.ts";
import { Seats } from "../turns/seats.ts";
import { SHARE_HASHES_PER_PROJECT_MAX } from "./share_limits.ts";

const hashing = new Seats<number>();

/** Runs work that hashes a password of a project's share. Throws `overloaded` if too much of it is under way. */
export async function hashingFor<T>(projectId: number, work: () => Promise<T>): Promise<T> {
  if (hashing.of(projectId) >= SHARE_HASHES_PER_PROJECT_MAX) {
    throw retryable("overloaded", "Too many passwords are being checked. Try again shortly.");
  }
  hashing.take(projectId);
  try {
    return await work();
  } finally {
    hashing.give(projectId);
  }
}
