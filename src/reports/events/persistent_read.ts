import { ClientGone } from "../../http/client_gone.ts";
import { EXPORT_RETRY_PAUSES_MS } from "../../limits.ts";
import { pause } from "../../pause.ts";
import { isPassing } from "../answer/time_limit.ts";

/**
 * Reads from the database for an export, and repeats a read whose failure may pass. The reply's status is
 * already sent, so the only other way to report a failure is to cut the connection.
 * @param gone aborted once nobody takes the reply any more: then nothing is read
 * @throws what `read` throws: at once if the failure is lasting, else after the last pause; ClientGone
 */
export async function readPersistently<T>(
  read: () => Promise<T>,
  gone: AbortSignal,
  pausesMs: readonly number[] = EXPORT_RETRY_PAUSES_MS,
): Promise<T> {
  for (let failures = 0; !gone.aborted; failures++) {
    try {
      return await read();
    } catch (error) {
      if (gone.aborted) break;
      const ms = pausesMs[failures];
      if (ms === undefined || !isPassing(error)) throw error;
      await pause(ms, gone);
    }
  }
  throw new ClientGone("The client closed the connection before the export was read");
}
