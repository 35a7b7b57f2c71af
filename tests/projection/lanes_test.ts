import assert from "node:assert/strict";
import { Lanes } from "../../src/projection/lanes.ts";

/** Has these projects wait for one lane, then lets them through. @returns the order of their turns */
async function turns(projects: readonly number[], urgent: readonly number[]): Promise<number[]> {
  const lanes = new Lanes(1);
  const taken: number[] = [];
  await lanes.enter(-1, false);
  const waiting = projects.map(async (project) => {
    await lanes.enter(project, false);
    taken.push(project);
    lanes.leave(0);
  });
  for (const project of urgent) lanes.hurry(project);
  lanes.leave(0);
  await Promise.all(waiting);
  return taken;
}

Deno.test("lanes: in the order of asking, every second turn that of a project that a read waits for", async () => {
  assert.deepEqual(await turns([1, 2, 3, 4, 5, 6], []), [1, 2, 3, 4, 5, 6]);
  assert.deepEqual(await turns([1, 2, 3, 4, 5, 6], [5, 6]), [5, 1, 6, 2, 3, 4]);
});

Deno.test("lanes: of ten thousand projects, a turn looks at few of those that wait", async () => {
  const ids = Array.from({ length: 10_000 }, (_, i) => i);
  const half = new Map(ids.slice(0, ids.length / 2).map((id) => [id, {}]));
  let [turnMs, copyMs] = [Infinity, Infinity];
  for (let round = 0; round < 3; round++) {
    const begunMs = performance.now();
    assert.deepEqual(await turns(ids, []), ids);
    turnMs = Math.min(turnMs, (performance.now() - begunMs) / ids.length);
    for (let copy = 0; copy < 20; copy++) {
      const copiedMs = performance.now();
      assert.equal([...half].length, half.size);
      copyMs = Math.min(copyMs, performance.now() - copiedMs);
    }
  }
  assert.ok(turnMs < copyMs / 2, `A turn takes ${turnMs} ms, and a copy of half of them ${copyMs}`);
});
