import assert from "node:assert/strict";
import fc from "fast-check";
import { cutBackwards } from "../../../src/reports/newest/backwards.ts";

const segment = (from_ms: number, to_ms: number, events: number, segment_id = 1) => ({
  segment_id,
  from_ms,
  to_ms,
  events,
});

Deno.test("the parts of a span are adjacent, the last one first, whatever segments there are", () => {
  const Segment = fc.tuple(fc.nat(1_000), fc.nat(300), fc.integer({ min: 1, max: 500 }))
    .map(([from, length, events]) => segment(from, from + length, events));
  fc.assert(
    fc.property(
      fc.array(Segment, { maxLength: 30 }),
      fc.nat(1_000),
      fc.nat(1_000),
      fc.integer({ min: 1, max: 2_000 }),
      (segments, fromMs, length, firstEvents) => {
        const span = { fromMs, toMs: fromMs + length };
        const parts = [...cutBackwards(span, segments, firstEvents)];
        let { toMs } = span;
        for (const part of parts) {
          assert.equal(part.toMs, toMs);
          assert.ok(part.fromMs < part.toMs);
          toMs = part.fromMs;
        }
        assert.equal(toMs, span.fromMs);
      },
    ),
  );
});

Deno.test("parts are cut where segments begin, each with eight times as many events as the one after it", () => {
  const segments = Array.from({ length: 100 }, (_, i) => segment(10 * i, 10 * i + 9, 50, i));
  assert.deepEqual([...cutBackwards({ fromMs: 5, toMs: 1_000 }, segments, 100)], [
    { fromMs: 980, toMs: 1_000 },
    { fromMs: 820, toMs: 980 },
    { fromMs: 5, toMs: 820 },
  ]);
});

Deno.test("of a segment that is partly in the span, that part of its events counts", () => {
  const segments = [segment(0, 99, 1_000), segment(100, 199, 1_000), segment(200, 299, 1_000)];
  // 200 events from 100 on, 100 before.
  const span = { fromMs: 90, toMs: 120 };
  assert.deepEqual([...cutBackwards(span, segments, 200)], [
    { fromMs: 100, toMs: 120 },
    { fromMs: 90, toMs: 100 },
  ]);
  assert.deepEqual([...cutBackwards(span, segments, 201)], [span]);
});

Deno.test("a part begins where earlier segments end, if these overlap it a little", () => {
  const span = { fromMs: 0, toMs: 300 };
  const cutAt = (toMs: number) =>
    [...cutBackwards(span, [segment(0, toMs, 1_000), segment(200, 299, 1_000)], 1_000)]
      .map(({ fromMs }) => fromMs);
  assert.deepEqual(cutAt(210), [211, 0]);
  assert.deepEqual(cutAt(224), [225, 0]);
  assert.deepEqual(cutAt(225), [200, 0]);
});

Deno.test("the time after all events is no part's: it does not make an overlap little", () => {
  const segments = [segment(0, 290, 1_000), segment(200, 299, 1_000)];
  for (const toMs of [300, 1_000_000]) {
    const parts = [...cutBackwards({ fromMs: 0, toMs }, segments, 1_000)];
    assert.deepEqual(parts.map(({ fromMs }) => fromMs), [200, 0]);
  }
});

Deno.test("a span without events is one part", () => {
  assert.deepEqual([...cutBackwards({ fromMs: 1, toMs: 2 }, [], 1)], [{ fromMs: 1, toMs: 2 }]);
  assert.deepEqual([...cutBackwards({ fromMs: 2, toMs: 2 }, [segment(0, 5, 9)], 1)], []);
});
