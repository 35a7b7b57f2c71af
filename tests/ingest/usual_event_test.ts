import assert from "node:assert/strict";
import fc from "fast-check";
import type { EventInput } from "../../src/ingest/event_input.ts";
import {
  readBySchema,
  readEvent,
  RejectedEvent,
  suspicionOf,
} from "../../src/ingest/event_schema.ts";
import { jsonBytesAtMost, readUsualEvent } from "../../src/ingest/usual_event.ts";
import { EVENT_BYTES_MAX, PROPERTIES_BYTES_MAX } from "../../src/limits.ts";
import { isMembers, type Members } from "../../src/json_text.ts";

const TEXT_MEMBERS = [
  "name",
  "anonymousId",
  "userId",
  "sessionId",
  "url",
  "path",
  "referrer",
  "title",
];
const CONTEXT_MEMBERS = ["viewport", "screen", "locale", "timezone", "ip", "userAgent"];
const MEMBERS = [
  ...["eventId", "timestamp", "properties", "context", "event", "eventName", "type", "extra"],
  ...[...TEXT_MEMBERS, "__proto__", "constructor", "toString", "", "ä"],
];

/** What a client of Footfall sends. */
const usual = fc.record({
  eventId: fc.uuid(),
  name: fc.constantFrom("page_view", "click", "added to cart"),
  timestamp: fc.oneof(
    fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })
      .map((date) => date.toISOString()),
    fc.integer({ min: 0, max: 4e12 }),
  ),
  anonymousId: fc.oneof(fc.uuid(), fc.constantFrom("..", "")),
  userId: fc.string(),
  url: fc.webUrl(),
  path: fc.constant("/a"),
  title: fc.string(),
  referrer: fc.webUrl(),
  properties: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 }),
  context: fc.record({
    viewport: fc.record({ width: fc.integer(), height: fc.integer() }),
    screen: fc.constant({ width: 1, height: 1 }),
    locale: fc.constant("de-DE"),
    timezone: fc.constant("Europe/Berlin"),
  }, { requiredKeys: [] }),
}, { requiredKeys: ["eventId"] }).map((event) => ({ ...event }) as Members);

const nested = (levels: number): unknown =>
  levels === 0 ? 1 : levels % 2 ? [nested(levels - 1)] : {
    a: nested(levels - 1),
  };
/** Written as `1e400`, which no number of JavaScript's is as large as. */
const HUGE = Number.MAX_VALUE;
const odd = fc.oneof(
  fc.constantFrom<unknown>(null, "", 0, -0, true, false, 1e21, -1e-7, {}, [], [1], "x", "\u0000"),
  fc.constantFrom<unknown>(HUGE, -HUGE, [HUGE], { a: [-HUGE] }),
  fc.constantFrom<unknown>("\ud800", "24:00", "2026-02-30", "2026-01-01", NaN, { a: null }),
  fc.constantFrom(199, 200, 201, 2047, 2048, 2049, 5_400, 40_000).map((count) => "x".repeat(count)),
  fc.constantFrom(99, 100, 101, 1_024, 1_025).map((count) => "🦆".repeat(count)),
  fc.integer({ min: 8, max: 12 }).map(nested),
  fc.uuid().map((id) => id.toUpperCase()),
  fc.jsonValue(),
);
/** One change: a member of the event, of its context or of its properties, set or taken away. */
const change = fc.record({
  within: fc.constantFrom("", "", "context", "properties"),
  key: fc.oneof(fc.constantFrom(...MEMBERS), fc.constantFrom(...CONTEXT_MEMBERS), fc.string()),
  value: fc.option(odd, { nil: undefined, freq: 5 }),
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function changed(event: Members, changes: readonly Change[]): Members {
  const result = structuredClone(event);
  for (const { within, key, value } of changes) {
    const holder = within === "" ? result : result[within];
    if (!isMembers(holder)) continue;
    if (value === undefined) delete holder[key];
    // As JSON.parse does, whatever the name is.
    else {Object.defineProperty(holder, key, {
        // A change made again may be within what it has set itself.
        value: structuredClone(value),
        configurable: true,
        enumerable: true,
        writable: true,
      });}
  }
  return result;
}

/** What becomes of an event, whatever it is. */
function verdict(read: () => EventInput): unknown {
  try {
    const { context, ...rest } = read();
    return JSON.stringify([
      rest,
      context && Object.entries(context).toSorted(([a], [b]) => a < b ? -1 : 1),
    ]);
  } catch (error) {
    assert.ok(error instanceof RejectedEvent, String(error));
    return [error.code, error.message, error.field];
  }
}

Deno.test("readEvent: a usual event is read as the schema reads it, whatever is changed in it", () => {
  const mutations = fc.array(fc.array(change, { maxLength: 3 }), { minLength: 5, maxLength: 5 });
  let straight = 0;
  let all = 0;
  fc.assert(
    fc.property(usual, mutations, (event, each) => {
      for (const changes of each) {
        const text = JSON.stringify(changed(event, changes)).replaceAll(String(HUGE), "1e400");
        const sent = JSON.parse(text) as Members;
        const suspicion = suspicionOf(text);
        all++;
        if (!suspicion.text && readUsualEvent(sent) !== null) straight++;
        assert.deepEqual(
          verdict(() => readEvent(sent, suspicion)),
          verdict(() => readBySchema(sent, { size: true, text: true })),
        );
      }
    }),
    { numRuns: 4_000 },
  );
  assert.ok(straight > all / 4 && straight < all, `${straight} of ${all} were read straight`);
});

Deno.test("readUsualEvent: what may exceed a bound is left to the schema", () => {
  const event = { eventId: crypto.randomUUID() };
  const withText = (length: number) =>
    readUsualEvent({ ...event, properties: { a: "x".repeat(length) } });
  assert.notEqual(withText(PROPERTIES_BYTES_MAX / 6 - 100), null);
  assert.equal(withText(PROPERTIES_BYTES_MAX / 6), null);
  assert.equal(readUsualEvent({ ...event, ["x".repeat(EVENT_BYTES_MAX)]: null }), null);
});

Deno.test("readUsualEvent: a number without end is left to the schema", () => {
  for (const a of [Number.MAX_VALUE, -Number.MAX_VALUE, Infinity, -Infinity, [{ b: Infinity }]]) {
    const isUsual = readUsualEvent({ eventId: crypto.randomUUID(), properties: { a } }) !== null;
    assert.equal(isUsual, typeof a === "number" && Number.isFinite(a), String(a));
  }
});

Deno.test("jsonBytesAtMost: never less than the value has; Infinity where it nests deeper", () => {
  const value = fc.oneof(fc.jsonValue(), fc.string({ unit: "binary" }), fc.double());
  fc.assert(fc.property(value, (one) => {
    const bytes = new TextEncoder().encode(JSON.stringify(one)).length;
    assert.ok(jsonBytesAtMost(one, Infinity) >= bytes);
  }));
  assert.ok(jsonBytesAtMost(nested(10), 10) < Infinity);
  assert.equal(jsonBytesAtMost(nested(11), 10), Infinity);
});
