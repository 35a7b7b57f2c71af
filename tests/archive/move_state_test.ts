import assert from "node:assert/strict";
import { MoveState } from "../../src/archive/move_state.ts";

Deno.test("move: a pause that fails is undone, and the next one begins anew", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "footfall-move-" });
  const said: string[] = [];
  const move = await MoveState.open(dataDir, {
    script: (text) => Promise.resolve(void said.push(text)),
  }, { warn: (text, { databaseUrl } = {}) => void said.push(`${text}: ${databaseUrl}`) });
  try {
    await move.begin((length) => "x".repeat(length));
    let fails = true;
    move.onPause(() => fails ? Promise.reject(new Error("It cannot wait")) : Promise.resolve());
    await assert.rejects(move.pause(), /It cannot wait/);
    assert.equal(move.status, "none");
    fails = false;
    await move.begin((length) => "x".repeat(length));
    await move.pause();
    assert.equal(move.status, "paused");
    assert.equal(said.at(-1), "SET default_transaction_read_only = on");
    await move.complete("postgres://db.internal/footfall", 0);
    assert.match(
      said.at(-1)!,
      /start it with this DATABASE_URL .*: postgres:\/\/db.internal\/footfall$/,
    );
    assert.doesNotMatch(move.refusal().message, /internal/);
  } finally {
    move.close();
    await Deno.remove(dataDir, { recursive: true });
  }
});
