import type { MoveState } from "../archive/move_state.ts";
import type { Authorize } from "../auth/access.ts";
import type { Config } from "../config/config.ts";
import { DatabaseUnavailable } from "../db/sql.ts";
import { addressBelow } from "../http/request_address.ts";
import { RETRY_AFTER_S } from "../limits.ts";
import { Problem } from "../problem.ts";

/** Paths that the move itself uses, which stay open during it. */
const MOVING = /^\/v1\/(?:move|archive|session)(?:\/|$)/;
const ERASURE = /^\/v1\/actors\//;

/** Throws `moving` or `moved` for a request whose effect would be lost or would differ in the new database. */
function assertNotMoving(move: MoveState, basePath: string, request: Request): void {
  const { status } = move;
  if (status === "none") return;
  const path = addressBelow(basePath, request)?.pathname ?? "";
  if (MOVING.test(path)) return;
  const isErasure = request.method === "DELETE" && ERASURE.test(path);
  if (status !== "copying" || isErasure) throw move.refusal();
}

/** Refuses requests that need the database while it is not ready or the server stops. */
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
