import { ClientGone } from "../../http/client_gone.ts";
import { EXPORT_RETRY_PAUSES_MS } from "../../limits.ts";
import { pause } from "../../turns/pause.ts";
import { isTemporary } from "../answer/time_limit.ts";

/**
 * Reads from the database for an export, and repeats a read whose failure may be temporary. The reply's status
 * is already sent, so that a failure could only be reported by cutting the connection.
 * @param gone aborted when the reader of the reply has gone: then nothing is read
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
      if (ms === undefined || !isTemporary(error)) throw error;
      await pause(ms, gone);
    }
  }
  throw new ClientGone("The client closed the connection before the export was read");
}
