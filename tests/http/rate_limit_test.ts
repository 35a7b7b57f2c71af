import assert from "node:assert/strict";
import fc from "fast-check";
import { RateLimit } from "../../src/http/rate_limit.ts";

function newLimit(unitsPerSecond: number) {
  const clock = { ms: 1_000_000 };
  return { clock, limit: new RateLimit(unitsPerSecond, 100, () => clock.ms) };
}

Deno.test("RateLimit: a second's worth is admitted, and more after the time that it names", () => {
  const { clock, limit } = newLimit(10);
  assert.equal(limit.take("a", 10), 0);
  assert.equal(limit.take("a", 1), 1);
  clock.ms += 1000;
  assert.equal(limit.take("a", 1), 0);
});

Deno.test("RateLimit: keys do not share a bucket", () => {
  const { limit } = newLimit(10);
  assert.equal(limit.take("a", 10), 0);
  assert.equal(limit.take("b", 10), 0);
  assert.equal(limit.take("a", 1), 1);
});

Deno.test("RateLimit: a batch larger than a second's worth is admitted, and its debt makes the next one wait", () => {
  const { clock, limit } = newLimit(10);
  assert.equal(limit.take("a", 500), 0);
  const wait = limit.take("a", 1);
  assert.equal(wait, 50);
  clock.ms += 49_000;
  assert.equal(limit.take("a", 1), 1);
  clock.ms += 1000;
  assert.equal(limit.take("a", 10), 0);
});

Deno.test("RateLimit: a request is admitted only if the bucket has all of it", () => {
  const { clock, limit } = newLimit(5);
  assert.equal(limit.take("a", 3), 0);
  assert.equal(limit.take("a", 3), 1);
  assert.equal(limit.take("a", 2), 0);
  clock.ms += 400;
  assert.equal(limit.take("a", 3), 1);
  assert.equal(limit.take("a", 2), 0);
});

Deno.test("RateLimit: a batch larger than a second's worth waits for a full bucket", () => {
  const { clock, limit } = newLimit(5);
  assert.equal(limit.take("a", 1), 0);
  assert.equal(limit.take("a", 6), 1);
  clock.ms += 200;
  assert.equal(limit.take("a", 6), 0);
});

Deno.test("RateLimit: a refused request takes nothing", () => {
  const { clock, limit } = newLimit(10);
  limit.take("a", 10);
  for (let i = 0; i < 1000; i++) limit.take("a", 10);
  clock.ms += 1001;
  assert.equal(limit.take("a", 10), 0);
});

Deno.test("RateLimit: a clock that goes back gives nothing and takes nothing", () => {
  const { clock, limit } = newLimit(10);
  limit.take("a", 5);
  clock.ms -= 60_000;
  assert.equal(limit.take("a", 5), 0);
  assert.equal(limit.take("a", 1), 1);
});

Deno.test("RateLimit: over any time no more passes than rate, burst and the excess of one batch", () => {
  const step = fc.record({ waitMs: fc.nat({ max: 400 }), units: fc.integer({ min: 1, max: 30 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const { clock, limit } = newLimit(20);
      const start = clock.ms;
      let passed = 0;
      for (const { waitMs, units } of steps) {
        clock.ms += waitMs;
        if (limit.take("a", units) === 0) passed += units;
      }
      assert.ok(passed <= 30 + (clock.ms - start) / 1000 * 20);
    }),
  );
});
