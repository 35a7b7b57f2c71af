import type { MoveState } from "../archive/move_state.ts";
import type { Authorize } from "../auth/access.ts";
import type { Config } from "../config.ts";
import { DatabaseUnavailable } from "../db/sql.ts";
import { RETRY_AFTER_S } from "../limits.ts";
import { Problem } from "../problem.ts";

/** What a move is made of: answered throughout. */
const MOVING = /^\/v1\/(?:move|archive|session)(?:\/|$)/;
const ERASURE = /^\/v1\/actors\//;

/** Throws `moving` or `moved` for what would be lost, or would not be the same at the new place. */
function assertNotMoving(move: MoveState, basePath: string, { method, url }: Request): void {
  const { status } = move;
  if (status === "none") return;
  const path = new URL(url).pathname.slice(basePath.length);
  if (MOVING.test(path)) return;
  if (status !== "copying" || method === "DELETE" && ERASURE.test(path)) throw move.refusal();
}

/** Only what needs no database is answered while there is none, or while the server stops. */
export function guarded(
  authorize: Authorize,
  state: { readonly prepared: boolean; readonly draining: boolean },
  { move, config }: { readonly move: MoveState | null; readonly config: Config },
): Authorize {
  const retry = { "Retry-After": String(RETRY_AFTER_S) };
  return (access, request, peer) => {
    if (access === "open") return Promise.resolve(null);
    if (state.draining) {
      throw new Problem("shutting_down", "The server is stopping. Send the request again.", {
        headers: { ...retry, "Connection": "close" },
      });
    }
    if (!state.prepared) throw new DatabaseUnavailable("The schema is not ready yet");
    if (move !== null) assertNotMoving(move, config.basePath, request);
    return authorize(access, request, peer);
  };
}
