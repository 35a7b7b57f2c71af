import assert from "node:assert/strict";
import {
  type AttemptRules,
  bestAttempt,
  BETWEEN,
  EXCLUDED,
  FirstAttempt,
} from "../../../src/reports/funnels/funnel_attempts.ts";

const EVENTS = 1_000_000;
/** Ten times what it takes; comparing the actor's events with each other takes a thousand times more. */
const MS_MAX = 10_000;

/** One actor, an event a second: each enters, every second one is step 2, each thousandth step 3, none step 4. */
function busyActor(also: number, order: AttemptRules["order"]) {
  const masks = Uint16Array.from({ length: EVENTS }, (_, i) => {
    const step = i % 1000 === 999 ? 0b100 : i % 2 === 0 ? 0b011 : 0b001 | also;
    return order === "strict" ? step | BETWEEN : step;
  });
  return { ms: Float64Array.from({ length: EVENTS }, (_, i) => i * 1000), masks };
}

const SPAN = { windowMs: 7 * 86_400_000, fromMs: 0, toMs: EVENTS * 1000, stepCount: 4 };
const VARIANTS: readonly (Pick<AttemptRules, "order" | "entry"> & {
  readonly also: number;
  readonly reached: number;
})[] = [
  { order: "ordered", entry: "any", also: 0, reached: 3 },
  { order: "ordered", entry: "first", also: 0, reached: 3 },
  { order: "ordered", entry: "any", also: EXCLUDED, reached: 3 },
  { order: "strict", entry: "any", also: 0, reached: 3 },
  { order: "unordered", entry: "any", also: 0, reached: 3 },
  { order: "unordered", entry: "any", also: EXCLUDED, reached: 3 },
];

/** Searches as the visitor does, from the first event on. */
function firstAttempt(ms: Float64Array, masks: Uint16Array, rules: AttemptRules) {
  const search = new FirstAttempt(rules);
  search.clear();
  for (let i = 0; i < EVENTS && !search.isOver; i++) {
    if ((masks[i]! & search.wanted) !== 0) search.add(masks[i]!, ms[i]!, 0, i);
  }
  return search;
}

/** Searches as the visitor does, from the last event on. */
function bestOf(ms: Float64Array, masks: Uint16Array, rules: AttemptRules) {
  const search = bestAttempt(rules);
  search.clear();
  for (let i = EVENTS - 1; i >= 0; i--) {
    const mask = masks[i]! & search.wanted;
    if (mask !== 0) search.add(mask, ms[i]!, 0, i);
  }
  return search;
}

for (const { also, reached, ...rules } of VARIANTS) {
  const name = `${rules.order} ${rules.entry}${also === 0 ? "" : " exclude"}`;
  Deno.test(`funnels: linear in the events of one actor, ${name}`, () => {
    const { ms, masks } = busyActor(also, rules.order);
    const startedAtMs = performance.now();
    const search = rules.entry === "first"
      ? firstAttempt(ms, masks, { ...rules, ...SPAN })
      : bestOf(ms, masks, { ...rules, ...SPAN });
    const tookMs = performance.now() - startedAtMs;
    assert.equal(search.depth, reached);
    assert.ok(tookMs < MS_MAX, `${Math.round(tookMs)} ms`);
  });
}
