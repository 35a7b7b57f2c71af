import fc from "fast-check";
import assert from "node:assert/strict";
import { TAIL_CURSOR_AGE_MS_MAX, TIMESTAMP_MS_MIN } from "../../src/limits.ts";
import { Problem } from "../../src/problem.ts";
import {
  encodePageCursor,
  encodeTailCursor,
  readPageCursor,
  readTailCursor,
} from "../../src/query/event_cursor.ts";

const query = (name: string, value: string) => new URLSearchParams({ [name]: value });
const instant = fc.date({
  min: new Date("0001-01-02T00:00:00Z"),
  max: new Date("9999-12-31T00:00:00Z"),
  noInvalidDate: true,
}).map((date) => date.toISOString());

/** As of the cursor's own time. */
const readTail = (query: URLSearchParams) => readTailCursor(query, TIMESTAMP_MS_MIN);

const refused = (field: string) => (error: unknown) => {
  assert.ok(error instanceof Problem, String(error));
  assert.equal(error.code, "invalid_parameter");
  assert.equal(error.options.errors?.[0]?.field, field);
  return true;
};

Deno.test("page cursor: decodes to what was encoded, in URL-safe characters", () => {
  fc.assert(
    fc.property(instant, fc.uuid(), fc.constantFrom(null, "10:20:12"), (at, eventId, snapshot) => {
      const tail = snapshot === null ? null : { snapshot, journalId: 2 ** 40, eventId };
      const text = encodePageCursor({ at, eventId, tail });
      assert.match(text, /^[\w-]+$/);
      assert.deepEqual(readPageCursor(query("cursor", text)), { at, eventId, tail });
    }),
  );
});

Deno.test("tail cursor: decodes to what was encoded; an instant is accepted too", () => {
  const snapshots = ["10:10:", "10:20:10,12,19", "1:2:1", "461168601842738700:461168601842738701:"];
  fc.assert(
    fc.property(instant, fc.constantFrom(...snapshots), (at, snapshot) => {
      const text = encodeTailCursor({ at, snapshot });
      assert.deepEqual(readTail(query("after", text)), { at, snapshot });
      assert.deepEqual(readTail(query("after", at)), { at, snapshot: null });
    }),
  );
});

Deno.test("tail cursor: expires after 48 hours; an instant never does", () => {
  const at = "2026-01-01T00:00:00.000Z";
  const cursor = query("after", encodeTailCursor({ at, snapshot: "10:10:" }));
  const lastMs = Date.parse(at) + TAIL_CURSOR_AGE_MS_MAX;
  assert.equal(TAIL_CURSOR_AGE_MS_MAX, 48 * 3_600_000);
  assert.equal(readTailCursor(cursor, lastMs)?.at, at);
  assert.throws(() => readTailCursor(cursor, lastMs + 1), (error: unknown) => {
    assert.ok(error instanceof Problem);
    assert.deepEqual([error.code, error.status], ["cursor_expired", 400]);
    assert.equal(error.options.errors?.[0]?.field, "after");
    return true;
  });
  assert.equal(readTailCursor(query("after", at), lastMs + 1)?.at, at);
});

Deno.test("cursors: absent or empty is null", () => {
  for (const none of [new URLSearchParams(), query("cursor", ""), query("after", "")]) {
    assert.equal(readPageCursor(none), null);
    assert.equal(readTail(none), null);
  }
});

Deno.test("cursors: a page cursor is not accepted as a tail cursor, or the other way round", () => {
  const at = "2026-01-01T00:00:00.000Z";
  const page = encodePageCursor({ at, eventId: crypto.randomUUID(), tail: null });
  const tail = encodeTailCursor({ at, snapshot: "1:2:" });
  assert.throws(() => readPageCursor(query("cursor", tail)), refused("cursor"));
  assert.throws(() => readTail(query("after", page)), refused("after"));
});

Deno.test("tail cursor: snapshots that PostgreSQL would refuse are refused before they reach it", () => {
  const at = "2026-01-01T00:00:00.000Z";
  const wrong = ["", "1", "5:3:", "0:5:", "0:0:", "1:5:5", "3:5:2", "1:9:4,3", "1:9:4,", "a:b:"];
  for (const snapshot of [...wrong, "1:99999999999999999999:", "1:2:1;DROP"]) {
    const after = encodeTailCursor({ at, snapshot });
    assert.throws(() => readTail(query("after", after)), refused("after"), snapshot);
  }
});

Deno.test("cursors: times that PostgreSQL cannot read are refused", () => {
  for (const at of ["0000-01-01T00:00:00.000Z", "2026-13-01T00:00:00Z", "2026-01-01", ""]) {
    const cursor = encodePageCursor({ at, eventId: crypto.randomUUID(), tail: null });
    assert.throws(() => readPageCursor(query("cursor", cursor)), refused("cursor"), at);
    const after = encodeTailCursor({ at, snapshot: "1:2:" });
    assert.throws(() => readTail(query("after", after)), refused("after"), at);
  }
  assert.throws(() => readTail(query("after", "0000-01-01T00:00:00Z")), refused("after"));
});

Deno.test("cursors: any text is either read or refused with the parameter's name", () => {
  const forged = fc.tuple(fc.constantFrom("p", "t", ""), fc.string(), fc.string()).map((parts) =>
    btoa(encodeURIComponent(parts.join("|").toWellFormed()).replaceAll("%7C", "|"))
      .replace(/=+$/, "")
  );
  fc.assert(
    fc.property(fc.oneof(fc.string(), forged, fc.base64String()), (text) => {
      for (
        const [name, reader] of [["cursor", readPageCursor], ["after", readTail]] as const
      ) {
        try {
          reader(query(name, text));
        } catch (error) {
          refused(name)(error);
        }
      }
    }),
    { numRuns: 1000 },
  );
});
