import assert from "node:assert/strict";
import fc from "fast-check";
import { Random } from "../../src/demo/visitors/random.ts";

const words = (seed: string) => {
  const random = new Random(seed);
  return Array.from({ length: 8 }, () => random.word());
};

Deno.test("Random: a seed gives one sequence, for ever", () => {
  // Fixed on purpose: another sequence would store every demo event a second time.
  assert.deepEqual(words("1/2026-11-21").slice(0, 3), [1_860_452_241, 1_415_741_733, 912_237_915]);
});

Deno.test("Random: different seeds give different sequences", () => {
  fc.assert(fc.property(fc.string(), fc.string(), (left, right) => {
    fc.pre(left !== right);
    assert.notDeepEqual(words(left), words(right));
  }));
});

Deno.test("Random.integer: stays within its ends and reaches both", () => {
  const random = new Random("ends");
  const seen = new Set(Array.from({ length: 400 }, () => random.integer(-2, 3)));
  assert.deepEqual([...seen].sort((a, b) => a - b), [-2, -1, 0, 1, 2, 3]);
});

Deno.test("Random.weighted: follows the weights", () => {
  const random = new Random("weights");
  const items = [{ weight: 3, name: "often" }, { weight: 1, name: "seldom" }];
  let often = 0;
  for (let i = 0; i < 4000; i++) if (random.weighted(items).name === "often") often++;
  assert.ok(often > 2800 && often < 3200, `${often} of 4000`);
});

Deno.test("Random.exponential and normal: have the mean that was asked for", () => {
  const random = new Random("means");
  const mean = (draw: () => number) => {
    let sum = 0;
    for (let i = 0; i < 20_000; i++) sum += draw();
    return sum / 20_000;
  };
  assert.ok(Math.abs(mean(() => random.exponential(5)) - 5) < 0.2);
  assert.ok(Math.abs(mean(() => random.normal(10, 2)) - 10) < 0.1);
});

Deno.test("Random.uuidAt: a version 7 UUID that begins with its time", () => {
  const random = new Random("ids");
  fc.assert(fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (timeMs) => {
    const id = random.uuidAt(timeMs);
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.equal(parseInt(id.replace("-", "").slice(0, 12), 16), timeMs);
  }));
});
