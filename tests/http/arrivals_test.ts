import assert from "node:assert/strict";
import { Arrivals } from "../../src/http/arrivals.ts";

/** A clock with timers, which only `pass` moves. */
function stoppedClock() {
  const { performance: { now: realNow }, setTimeout: realSetTimeout } = globalThis;
  let nowMs = 0;
  const timers = new Map<number, { atMs: number; run: () => void }>();
  let made = 0;
  performance.now = () => nowMs;
  globalThis.setTimeout = ((run: () => void, ms: number) => {
    timers.set(++made, { atMs: nowMs + ms, run });
    return made;
  }) as unknown as typeof setTimeout;
  const { clearTimeout: realClearTimeout } = globalThis;
  globalThis.clearTimeout = (id) => void timers.delete(id as number);
  const { unrefTimer } = Deno;
  Deno.unrefTimer = () => {};
  return {
    timers,
    get made() {
      return made;
    },
    pass(ms: number) {
      const untilMs = nowMs + ms;
      for (;;) {
        const next = [...timers].filter(([, { atMs }]) => atMs <= untilMs)
          .sort(([, a], [, b]) => a.atMs - b.atMs)[0];
        if (next === undefined) break;
        timers.delete(next[0]);
        nowMs = next[1].atMs;
        next[1].run();
      }
      nowMs = untilMs;
    },
    [Symbol.dispose]() {
      performance.now = realNow;
      globalThis.setTimeout = realSetTimeout;
      globalThis.clearTimeout = realClearTimeout;
      Deno.unrefTimer = unrefTimer;
    },
  };
}

const LIMITS = { idleMsMax: 100, totalMsMax: 250 };

Deno.test("arrivals: silence and length are bounded, each body by its own limits", () => {
  using clock = stoppedClock();
  const arrivals = new Arrivals();
  const givenUp: string[] = [];
  const begin = (name: string, limits = LIMITS) => arrivals.begin(limits, () => givenUp.push(name));
  const silent = begin("silent");
  const dripping = begin("dripping");
  begin("hasty", { idleMsMax: 30, totalMsMax: 30 });
  begin("patient", { idleMsMax: 1_000, totalMsMax: 1_000 });
  clock.pass(29);
  assert.deepEqual(givenUp, []);
  clock.pass(1);
  assert.deepEqual(givenUp, ["hasty"]);
  clock.pass(30);
  dripping.noteBytes();
  clock.pass(40);
  assert.deepEqual([silent.givenUpFor, dripping.givenUpFor], ["time", null]);
  for (let at = 100; at < 240; at += 20) {
    clock.pass(20);
    dripping.noteBytes();
  }
  assert.deepEqual(givenUp, ["hasty", "silent"]);
  clock.pass(10);
  assert.deepEqual(givenUp, ["hasty", "silent", "dripping"]);
  clock.pass(750);
  assert.deepEqual(givenUp, ["hasty", "silent", "dripping", "patient"]);
});

Deno.test("arrivals: a thousand bodies share a timer, and the last leaves none behind for long", () => {
  using clock = stoppedClock();
  const arrivals = new Arrivals();
  for (let i = 0; i < 1_000; i++) {
    arrivals.end(arrivals.begin(LIMITS, () => assert.fail("it has ended")));
    clock.pass(0.05);
  }
  assert.equal(clock.made, 1);
  clock.pass(LIMITS.idleMsMax);
  assert.equal(clock.timers.size, 0);
});

Deno.test("arrivals: all can be given up at once", () => {
  const arrivals = new Arrivals();
  const givenUp: number[] = [];
  const [first] = [1, 2, 3].map((i) => arrivals.begin(LIMITS, () => givenUp.push(i)));
  arrivals.end(first!);
  arrivals.giveUpAll();
  assert.deepEqual(givenUp, [2, 3]);
});
