import assert from "node:assert/strict";
import { oneAhead } from "../../src/timelines/one_ahead.ts";

Deno.test("one ahead: each item with what was fetched, while the next one is fetched", async (t) => {
  await t.step("in order, one ahead and no more", async () => {
    const fetched: number[] = [];
    const fetch = (item: number) => Promise.resolve(fetched.push(item) * 10);
    const seen: (readonly [number, number, number])[] = [];
    for await (const [item, tens] of oneAhead([1, 2, 3], fetch)) {
      seen.push([item, tens, fetched.length]);
    }
    assert.deepEqual(seen, [[1, 10, 2], [2, 20, 3], [3, 30, 3]]);
  });
  await t.step("no items", async () => {
    const all = oneAhead([], () => Promise.reject(new Error("never")));
    assert.deepEqual(await Array.fromAsync(all), []);
  });
  await t.step("a failure is thrown at its item", async () => {
    const fetch = (item: number) =>
      item === 2 ? Promise.reject(new Error("two")) : Promise.resolve();
    const seen: number[] = [];
    await assert.rejects(async () => {
      for await (const [item] of oneAhead([1, 2, 3], fetch)) seen.push(item);
    }, /two/);
    assert.deepEqual(seen, [1]);
  });
  await t.step("leaving early leaves nothing under way", async () => {
    let underWay = 0;
    const fetch = async () => {
      underWay++;
      await new Promise((resolve) => setTimeout(resolve, 5));
      underWay--;
    };
    for await (const _ of oneAhead([1, 2, 3], fetch)) break;
    assert.equal(underWay, 0);
  });
});
