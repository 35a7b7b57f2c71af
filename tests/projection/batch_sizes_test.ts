import assert from "node:assert/strict";
import { BatchSizes } from "../../src/projection/batch_sizes.ts";
import {
  PROJECTION_AIM_EVENTS_MIN,
  PROJECTION_MS_MAX,
} from "../../src/projection/projection_limits.ts";

const AIM_MS = 500;
const MAX = 16_000;

Deno.test("batch sizes: as many events as fill the time, twice as many at most", async (t) => {
  await t.step("from the first size to the largest", () => {
    const sizes = new BatchSizes(MAX, 1_000, AIM_MS);
    const taken: number[] = [];
    for (let i = 0; i < 6; i++) {
      taken.push(sizes.sizeOf(1));
      sizes.done(1, sizes.sizeOf(1), 10);
    }
    assert.deepEqual(taken, [1_000, 2_000, 4_000, 8_000, MAX, MAX]);
  });
  await t.step("up to the time that is aimed at", () => {
    const sizes = new BatchSizes(MAX, 4_000, AIM_MS);
    sizes.done(1, 4_000, 400);
    assert.equal(sizes.sizeOf(1), 5_000);
    sizes.done(1, 5_000, AIM_MS);
    assert.equal(sizes.sizeOf(1), 5_000);
    sizes.done(1, 5_000, 2 * AIM_MS);
    assert.equal(sizes.sizeOf(1), 2_500);
    sizes.done(1, 2_500, 100 * AIM_MS);
    assert.equal(sizes.sizeOf(1), PROJECTION_AIM_EVENTS_MIN);
  });
  await t.step("what was all that there was tells nothing of more", () => {
    const sizes = new BatchSizes(MAX, 4_000, AIM_MS);
    sizes.done(1, 10, 1);
    assert.equal(sizes.sizeOf(1), 4_000);
  });
  await t.step("from one on again where one was set aside: the next one may be near", () => {
    const sizes = new BatchSizes(MAX, 4_000, AIM_MS);
    sizes.failedAlone(1);
    sizes.setAside(1);
    const taken: number[] = [];
    for (let i = 0; i < 4; i++) {
      taken.push(sizes.sizeOf(1));
      sizes.done(1, sizes.sizeOf(1), 10);
    }
    assert.deepEqual(taken, [1, 2, 4, 8]);
  });
  await t.step("from few on, also where these take longer than is aimed at, or little less", () => {
    const sizes = new BatchSizes(MAX, 4_000, AIM_MS);
    for (const share of [0.8, 2]) {
      sizes.setAside(1);
      for (let i = 0; i < 12; i++) sizes.done(1, sizes.sizeOf(1), share * AIM_MS);
      assert.ok(sizes.sizeOf(1) >= 1_000, "they are not taken one by one for ever");
    }
    sizes.setAside(1);
    sizes.done(1, 1, PROJECTION_MS_MAX / 2);
    assert.equal(sizes.sizeOf(1), 1, "twice as many could take too long");
  });
});
