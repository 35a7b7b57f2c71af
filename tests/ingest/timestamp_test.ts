import { deepStrictEqual, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { clockOffset, correctClock, isoText, parseTimestamp } from "../../src/ingest/timestamp.ts";
import { TIMESTAMP_MS_MIN } from "../../src/limits.ts";

const HOUR_MS = 3_600_000;
const at = (text: string) => Date.parse(text);

Deno.test("parseTimestamp: reads the forms of ISO 8601 that clients send", () => {
  const noon = "2026-11-21T12:00:00.000Z";
  const forms: [string, string][] = [
    ["2026-11-21", "2026-11-21T00:00:00.000Z"],
    ["2026-11-21T12:00", noon],
    ["2026-11-21T12:00Z", noon],
    ["2026-11-21 12:00:00", noon],
    ["2026-11-21t12:00:00z", noon],
    ["20261121T120000Z", noon],
    ["20261121T1200+00", noon],
    ["20261121T140000.000+0200", noon],
    ["2026-11-21T14:00:00+02:00", noon],
    ["2026-11-21T06:30:00-0530", noon],
    ["2026-11-21T10:00:00-02", noon],
    ["2026-11-21T12:00:00.1239999999Z", "2026-11-21T12:00:00.123Z"],
    ["2026-11-21T12:00:00,5Z", "2026-11-21T12:00:00.500Z"],
    ["2026-11-21T24:00:00.000Z", "2026-11-22T00:00:00.000Z"],
    ["2026-12-31T23:59:60Z", "2026-12-31T23:59:59.999Z"],
    ["2024-02-29", "2024-02-29T00:00:00.000Z"],
    ["2000-02-29", "2000-02-29T00:00:00.000Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
    ["0099-12-31", "0099-12-31T00:00:00.000Z"],
    ["+275760-09-13T00:00:00.000Z", "+275760-09-13T00:00:00.000Z"],
  ];
  for (const [text, iso] of forms) {
    const ms = parseTimestamp(text);
    strictEqual(ms === null ? null : new Date(ms).toISOString(), iso, text);
  }
});

Deno.test("isoText: writes as toISOString does, and what is near it is read the same whatever was written before", () => {
  const edges = [TIMESTAMP_MS_MIN, -1, 0, 86_399_999, 86_400_000, 253_402_300_800_000, 8.64e15];
  const time = fc.oneof(
    fc.constantFrom(...edges),
    fc.integer({ min: TIMESTAMP_MS_MIN, max: 8.64e15 }),
    fc.integer({ min: 0, max: 3 * 86_400_000 }),
  );
  const flaw = fc.tuple(
    fc.nat({ max: 27 }),
    fc.constantFrom("0", "9", ":", "Z", "+", " ", "x", ""),
  );
  fc.assert(
    fc.property(time, fc.option(flaw), (ms, flawed) => {
      let text = isoText(ms);
      strictEqual(text, new Date(ms).toISOString());
      strictEqual(parseTimestamp(text), ms);
      if (flawed !== null) text = text.slice(0, flawed[0]) + flawed[1] + text.slice(flawed[0] + 1);
      const within = parseTimestamp(text);
      isoText(ms > 0 ? ms - 86_400_000 : ms + 86_400_000);
      strictEqual(within, parseTimestamp(text), text);
    }),
    { numRuns: 3_000 },
  );
});

Deno.test("parseTimestamp: text that is not a time, or a time that does not exist, is null", () => {
  const unreadable: unknown[] = [
    ...["", " ", "now", "2026", "2026-11", "2026-13-01", "2026-00-10", "2026-02-30", "2025-02-29"],
    ...["1900-02-29", "2026-04-31", "2026-01-00", "2026-01-01T25:00", "2026-01-01T24:00:01Z"],
    ...["2026-01-01T24:00:00.0001Z", "2026-01-01T12:60", "2026-01-01T12:00:61Z", "2026-01-01T12"],
    ...["2026-01-01T12:00:00.Z", "2026-01-01T12:00+24:00", "2026-01-01T12:00+02:60", "2026-01-01Z"],
    ...["20260101", "1767225600000", "2026-1-1", " 2026-01-01", "2026-01-01\n", "٢٠٢٦-01-01"],
    ...["0000-12-31", "0001-01-01T00:00:00+00:01", "+275760-09-13T00:00:00.001Z"],
    ...["+999999-01-01", "-000001-01-01", `2026-01-01T12:00:00.${"0".repeat(50)}Z`],
    ...[NaN, Infinity, -Infinity, 8.64e15 + 1, TIMESTAMP_MS_MIN - 0.5, 1e300],
    ...[null, undefined, true, 5n, {}, [], new Date(0), { valueOf: () => 5 }],
  ];
  for (const value of unreadable) strictEqual(parseTimestamp(value), null, String(value));
});

Deno.test("parseTimestamp: a number is epoch milliseconds, its fraction cut towards the past", () => {
  strictEqual(parseTimestamp(1_767_225_600_000.9), 1_767_225_600_000);
  strictEqual(parseTimestamp(-0.5), -1);
  strictEqual(parseTimestamp(-0), 0);
  strictEqual(parseTimestamp(8.64e15), 8.64e15);
  strictEqual(parseTimestamp(TIMESTAMP_MS_MIN), TIMESTAMP_MS_MIN);
});

Deno.test("parseTimestamp: reads back every time that JavaScript writes, at any offset", () => {
  fc.assert(fc.property(
    fc.integer({ min: TIMESTAMP_MS_MIN + 24 * HOUR_MS, max: 8.64e15 - 24 * HOUR_MS }),
    fc.integer({ min: -23 * 60 - 59, max: 23 * 60 + 59 }),
    (ms, offsetMinutes) => {
      strictEqual(parseTimestamp(new Date(ms).toISOString()), ms);
      const two = (n: number) => String(n).padStart(2, "0");
      const size = Math.abs(offsetMinutes);
      const offset = `${offsetMinutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${
        two(size % 60)
      }`;
      const local = new Date(ms + offsetMinutes * 60_000).toISOString().replace("Z", offset);
      strictEqual(parseTimestamp(local), ms, local);
    },
  ));
});

Deno.test("parseTimestamp: of any text, gives null or a time within range", () => {
  const text = fc.oneof(
    fc.string({ maxLength: 80 }),
    fc.stringMatching(/^\d{4}-?\d\d-?\d\d[T ]\d\d:?\d\d(:?\d\d)?(\.\d{1,9})?(Z|[+-]\d\d)?$/),
  );
  fc.assert(fc.property(text, (value) => {
    const ms = parseTimestamp(value);
    if (ms !== null) strictEqual(Number.isInteger(ms) && ms >= TIMESTAMP_MS_MIN, true);
  }));
});

Deno.test("clockOffset: a clock five minutes off is accepted, one millisecond more is corrected", () => {
  const receivedAtMs = at("2026-11-21T12:00:00Z");
  strictEqual(clockOffset("2026-11-21T11:55:00Z", receivedAtMs), 0);
  strictEqual(clockOffset("2026-11-21T12:05:00Z", receivedAtMs), 0);
  strictEqual(clockOffset("2026-11-21T11:54:59.999Z", receivedAtMs), 300_001);
  strictEqual(clockOffset(receivedAtMs + 300_001, receivedAtMs), -300_001);
  for (const sentAt of [undefined, null, "soon", {}, NaN]) {
    strictEqual(clockOffset(sentAt, receivedAtMs), 0);
  }
});

Deno.test("correctClock: returns when an event happened and where that time comes from", () => {
  const receivedAtMs = at("2026-11-21T12:00:00Z");
  const cases: [number | null, number, number, string][] = [
    [null, 0, receivedAtMs, "received"],
    [null, 7 * HOUR_MS, receivedAtMs, "received"],
    [receivedAtMs - 5, 0, receivedAtMs - 5, "client"],
    [0, 0, 0, "client"],
    [receivedAtMs + 24 * HOUR_MS, 0, receivedAtMs + 24 * HOUR_MS, "client"],
    [receivedAtMs + 24 * HOUR_MS + 1, 0, receivedAtMs, "clamped"],
    [receivedAtMs + 30 * HOUR_MS, -30 * HOUR_MS, receivedAtMs, "corrected"],
    [receivedAtMs - HOUR_MS, 26 * HOUR_MS, receivedAtMs, "clamped"],
    [TIMESTAMP_MS_MIN + 5, -HOUR_MS, TIMESTAMP_MS_MIN, "corrected"],
  ];
  for (const [timestampMs, offsetMs, occurredAtMs, clock] of cases) {
    deepStrictEqual(correctClock({ timestampMs, offsetMs, receivedAtMs }), { occurredAtMs, clock });
  }
});

Deno.test("isoText: the last parsed time is written as it was read, and no other time is", () => {
  const day = at("2026-11-21T00:00:00Z");
  isoText(day);
  const ms = fc.integer({ min: day - 2, max: day + 24 * HOUR_MS + 2 });
  fc.assert(fc.property(ms, ms, (read, written) => {
    strictEqual(parseTimestamp(new Date(read).toISOString()), read);
    strictEqual(isoText(written), new Date(written).toISOString());
    strictEqual(isoText(read), new Date(read).toISOString());
  }));
});
