import assert from "node:assert/strict";
import fc from "fast-check";
import {
  readEvent,
  RejectedEvent,
  REJECTION_CODES,
  suspicionOf,
} from "../../src/ingest/event_schema.ts";

const ALL = { size: true, text: true };

Deno.test("suspicionOf: every event that exceeds a limit of size or text is suspected", () => {
  const id = crypto.randomUUID();
  const value = fc.oneof(
    fc.string({ unit: fc.constantFrom("x", "ä", "漢", "🦆", "\\", '"', "\u0001"), maxLength: 30 })
      .map((text) => text.repeat(1500)),
    fc.string({ unit: "binary" }),
    fc.constantFrom("\u0000", "\ud800", "x\udfff", "\\u0000"),
    fc.array(fc.constantFrom(1e20, 1e-7, 123456789.5), { minLength: 1400, maxLength: 3000 }),
  );
  // Large numbers travel in their shortest form, as other languages write them.
  const shortest = (text: string) => text.replaceAll("100000000000000000000", "1e20");
  fc.assert(
    fc.property(value, (a) => {
      const text = shortest(JSON.stringify({ events: [{ eventId: id, properties: { a } }] }));
      const [event] = JSON.parse(text).events;
      const verdict = (suspicion: typeof ALL) => {
        try {
          readEvent(event, suspicion);
          return null;
        } catch (error) {
          assert.ok(error instanceof RejectedEvent);
          return error.code;
        }
      };
      assert.equal(verdict(suspicionOf(text)), verdict(ALL));
    }),
    { numRuns: 300 },
  );
});

Deno.test("readEvent: of any value it makes an input or throws RejectedEvent with a known code", () => {
  const codes: ReadonlySet<string> = new Set(REJECTION_CODES);
  const event = fc.oneof(
    fc.jsonValue(),
    fc.record(
      { eventId: fc.uuid(), name: fc.string(), timestamp: fc.jsonValue(), context: fc.jsonValue() },
      { requiredKeys: ["eventId"] },
    ),
  );
  fc.assert(
    fc.property(event, (value) => {
      try {
        const input = readEvent(value, ALL);
        assert.match(input.eventId, /^[0-9a-f-]{36}$/);
        assert.ok(input.name.length > 0 && input.name.length <= 200);
      } catch (error) {
        assert.ok(error instanceof RejectedEvent, String(error));
        assert.ok(codes.has(error.code));
        assert.ok(error.message.length > 5 && (error.field ?? "").length <= 200);
      }
    }),
    { numRuns: 1000 },
  );
});

Deno.test("readEvent: empty texts are absent", () => {
  const input = readEvent({
    eventId: crypto.randomUUID(),
    name: "",
    userId: "",
    anonymousId: "",
    url: "",
    title: "",
  }, ALL);
  assert.equal(input.name, "event");
  assert.deepEqual([input.userId, input.anonymousId, input.url, input.title], [
    null,
    null,
    null,
    null,
  ]);
});

Deno.test("readEvent: empty texts are no times, objects or ids, and stay in properties and extra", () => {
  const read = (event: object) => readEvent({ eventId: crypto.randomUUID(), ...event }, ALL);
  const refused: [object, string][] = [
    [{ timestamp: "" }, "invalid_timestamp"],
    [{ properties: "" }, "invalid_type"],
    [{ context: "" }, "invalid_type"],
    [{ context: { viewport: "" } }, "invalid_type"],
    [{ eventId: "" }, "invalid_event_id"],
  ];
  for (const [event, code] of refused) {
    assert.throws(
      () => read(event),
      (error) => error instanceof RejectedEvent && error.code === code,
    );
  }
  const kept = read({
    name: "a",
    type: "",
    unknown: "",
    absent: null,
    properties: { a: "", b: null },
  });
  assert.deepEqual(kept.properties, { a: "", b: null });
  assert.deepEqual({ ...kept.extra }, { type: "", unknown: "" });
});
