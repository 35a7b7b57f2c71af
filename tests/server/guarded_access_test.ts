import assert from "node:assert/strict";
import type { MoveState } from "../../src/archive/move_state.ts";
import type { Config } from "../../src/config/config.ts";
import { Problem } from "../../src/problem.ts";
import { guarded } from "../../src/server/guarded_access.ts";

Deno.test("a move that copies refuses erasures, whether or not a proxy removes the base path", async () => {
  const refusal = () => new Problem("moving", "The database is being moved.");
  const move = { status: "copying", refusal } as unknown as MoveState;
  const config = { basePath: "/analytics" } as Config;
  const authorize = guarded(() => Promise.resolve(null), { prepared: true, draining: false }, {
    move,
    config,
  });
  const ask = async (method: string, path: string) =>
    await authorize("admin", new Request(`http://x${path}`, { method }), null);
  for (const base of ["", "/analytics"]) {
    await assert.rejects(() => ask("DELETE", `${base}/v1/actors/ada`), { code: "moving" }, base);
    assert.equal(await ask("GET", `${base}/v1/actors/ada`), null);
  }
});
