import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { GATHER_MS_MAX, GATHER_QUIET_TURNS, GATHER_ROWS } from "../../src/ingest/ingest_limits.ts";
import { whenGathered } from "../../src/ingest/when_gathered.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Adds these rows, one number each turn. @returns how many there were when they had gathered, null: not yet */
async function gatheredOf(
  arriving: readonly number[],
  nowMs: (turns: number) => number = () => 0,
): Promise<number | null> {
  let [rows, turns] = [1, 0];
  let gathered: number | null = null;
  whenGathered(() => rows, () => gathered = rows, () => nowMs(turns));
  for (const more of arriving) {
    rows += more;
    await turn();
    turns++;
  }
  return gathered;
}

const quiet = (turns: number): number[] => new Array(turns).fill(0);

Deno.test("whenGathered: calls after GATHER_QUIET_TURNS turns without another row", async () => {
  assert.equal(await gatheredOf(quiet(GATHER_QUIET_TURNS - 1)), null);
  assert.equal(await gatheredOf(quiet(GATHER_QUIET_TURNS)), 1);
  const pauses = [...quiet(GATHER_QUIET_TURNS - 1), 5, ...quiet(GATHER_QUIET_TURNS - 1), 5];
  assert.equal(await gatheredOf(pauses), null);
  assert.equal(await gatheredOf([...pauses, ...quiet(GATHER_QUIET_TURNS), 5]), 11);
});

Deno.test("whenGathered: calls as soon as GATHER_ROWS wait", async () => {
  assert.equal(await gatheredOf([GATHER_ROWS - 2, 0]), null);
  assert.equal(await gatheredOf([GATHER_ROWS - 2, 1, 1]), GATHER_ROWS);
  assert.equal(await gatheredOf([GATHER_ROWS - 1]), GATHER_ROWS);
});

Deno.test("whenGathered: calls after GATHER_MS_MAX, even if more rows arrive", async () => {
  const endless = new Array(20).fill(1);
  const msPerTurn = GATHER_MS_MAX / 10;
  assert.equal(await gatheredOf(endless.slice(0, 10), (turns) => turns * msPerTurn), null);
  assert.equal(await gatheredOf(endless, (turns) => turns * msPerTurn), 12);
});
