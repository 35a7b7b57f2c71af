import assert from "node:assert/strict";
import { YIELD_MS } from "../../src/store/store_limits.ts";
import { SpareTime } from "../../src/scans/spare_time.ts";

const BUSY_MS = 20;

/** Keeps the thread busy with other work whenever it is free. @returns a function that ends this */
function keepBusy(): () => void {
  const timer = setInterval(() => {
    const untilMs = performance.now() + BUSY_MS;
    while (performance.now() < untilMs);
  }, 0);
  return () => clearInterval(timer);
}

/** A piece of the thread's own work, behind which others have their turn. */
function work(): void {
  const untilMs = performance.now() + YIELD_MS;
  while (performance.now() < untilMs);
}

/** Whether there is still time to spare after `workMs` of work. */
async function isLeftAfter(graceMs: number, workMs: number): Promise<boolean> {
  const spare = new SpareTime(graceMs);
  const untilMs = performance.now() + workMs;
  for (;;) {
    work();
    if (!await spare.isLeft()) return false;
    if (performance.now() >= untilMs) return true;
  }
}

Deno.test("spare time: none is left once others want the thread for longer than they may", async () => {
  const stop = keepBusy();
  assert.equal(await isLeftAfter(BUSY_MS / 2, 60_000), false);
  assert.equal(await isLeftAfter(Infinity, 5 * BUSY_MS), true);
  stop();
});

Deno.test("spare time: what others may take grows with the thread's own work", async () => {
  const spare = new SpareTime(0);
  const untilMs = performance.now() + 1_000;
  while (performance.now() < untilMs);
  assert.equal(await spare.isLeft(), true);
  const stop = keepBusy();
  while (await spare.isLeft()) work();
  stop();
});

Deno.test("spare time: a thread that may spare none has none", async () => {
  assert.equal(await isLeftAfter(-Infinity, 0), false);
});
