import { EXPORT_RETRY_PAUSES_MS } from "../../limits.ts";
import { pause } from "../../pause.ts";
import { isPassing } from "../answer/time_limit.ts";

/**
 * What an export reads of the database, read again where it cannot be had now: whoever takes the reply
 * has had its status, and a connection that is cut is all that could tell of it.
 * @param gone aborted once nobody takes the reply any more
 * @throws what `read` throws, at once unless it may pass, and once the pauses are over
 */
export async function readPersistently<T>(
  read: () => Promise<T>,
  gone: AbortSignal,
  pausesMs: readonly number[] = EXPORT_RETRY_PAUSES_MS,
): Promise<T> {
  for (const ms of pausesMs) {
    try {
      return await read();
    } catch (error) {
      if (!isPassing(error)) throw error;
      await pause(ms, gone);
      if (gone.aborted) throw error;
    }
  }
  return await read();
}
