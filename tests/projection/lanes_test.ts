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
  assert.deepEqual(await turns([1, 2, 3, 4, 5, 6], [6, 5]), [6, 1, 5, 2, 3, 4]);
});

Deno.test("lanes: of ten thousand projects, a turn looks at few of those that wait", async () => {
  const ids = Array.from({ length: 10_000 }, (_, i) => i);
  const { [Symbol.iterator]: iterate, entries } = Map.prototype;
  let looked = 0;
  function* counted(this: Map<unknown, unknown>) {
    for (const entry of entries.call(this)) {
      looked++;
      yield entry;
    }
  }
  Map.prototype[Symbol.iterator] = counted as typeof iterate;
  try {
    assert.deepEqual(await turns(ids, []), ids);
  } finally {
    Map.prototype[Symbol.iterator] = iterate;
  }
  assert.ok(looked >= ids.length && looked <= 3 * ids.length, `${looked} were looked at`);
});
