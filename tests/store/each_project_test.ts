import assert from "node:assert/strict";
import { sumOfProjects } from "../../src/store/each_project.ts";

Deno.test("each project: the sum of all, also where some fail, whose failures are told after", async () => {
  const seen: number[] = [];
  const failing = (...ids: number[]) => (id: number) => {
    seen.push(id);
    return ids.includes(id) ? Promise.reject(new Error(`of ${id}`)) : Promise.resolve(10 * id);
  };
  assert.equal(await sumOfProjects([], failing()), 0);
  assert.equal(await sumOfProjects([1, 2, 3], failing()), 60);
  await assert.rejects(sumOfProjects([1, 2, 3], failing(2)), /^Error: of 2$/);
  await assert.rejects(sumOfProjects([1, 2, 3], failing(1, 3)), {
    name: "AggregateError",
    message: "2 projects failed; the first: of 1",
  });
  assert.deepEqual(seen, [1, 2, 3, 1, 2, 3, 1, 2, 3]);
});
