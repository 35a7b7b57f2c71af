import assert from "node:assert/strict";
import { JOURNEY_NODES } from "../../../src/reports/journeys/journey_visitor.ts";
import type { EventPasses } from "../../../src/scans/event_test.ts";

Deno.test("journeys: memory is proportional to the values of the ways, not to all values of the project", () => {
  const selected: EventPasses = {
    ...{ names: null, paths: null, contexts: null, actors: null, contextsFrom: 0, contextsTo: 0 },
    ...{ contextMin: 0, contextMax: 0, termMax: 5_000_000, bits: Int32Array.of(0) },
  };
  const span = { fromMs: 0, toMs: 1 };
  const steps = 10;
  const visitor = JOURNEY_NODES.create({
    ...{ of: "session", span, reach: span, by: "path", passedOver: [], linksMax: 1_000 },
    ...{ selected, start: null, end: null },
    rules: { hasStart: false, hasEnd: false, steps, windowMs: Infinity },
  }, []);
  const { counts } = visitor.result();
  assert.equal(counts.length, steps);
  for (const { keys, counts: own } of counts) assert.equal(keys.length + own.length, 0);
});
