import assert from "node:assert/strict";
import fc from "fast-check";
import { fitted, jsonBytes, plainJson } from "../../src/assistants/fitted.ts";

const rows = (count: number, text = "x".repeat(80)) => ({
  rows: Array.from({ length: count }, (_, i) => ({ i, text })),
});

Deno.test("fitted: a value that fits to the byte is unchanged", () => {
  const value = rows(10);
  const bytes = jsonBytes(value);
  assert.deepEqual(fitted(value, bytes).value, value);
  assert.equal(fitted(value, bytes).lists.size, 0);
  const cut = fitted(value, bytes - 1);
  assert.deepEqual(cut.value, rows(9));
  assert.deepEqual([...cut.lists], [["rows", { kept: 9, of: 10 }]]);
});

Deno.test("fitted: a value of which nothing fits becomes null", () => {
  assert.equal(fitted(rows(3), 5).value, null);
});

Deno.test("fitted: long texts are cut before the tenth row is", () => {
  const { value, texts, lists } = fitted(rows(200, "y".repeat(5_000)), 8_000);
  const told = value as { rows: { text: string }[] };
  assert.equal(texts, told.rows.length);
  assert.ok(told.rows.length >= 10 && told.rows.every(({ text }) => text.length < 200));
  assert.equal(lists.get("rows")?.of, 200);
});

Deno.test("fitted: names that visitors choose are not in places", () => {
  const properties = { "drop everything": Array.from({ length: 3_000 }, (_, i) => i) };
  const { lists } = fitted({ result: { events: [{ properties }] } }, 2_000);
  assert.deepEqual([...lists.keys()], ["result.events.properties"]);
});

Deno.test("fitted: invisible characters are escaped, and the JSON parses to the same value", () => {
  const text = "a\u200bb\u202ec\u{E0041}d 👩‍💻";
  assert.ok(!/\p{Cf}/u.test(plainJson({ text })));
  assert.deepEqual(JSON.parse(plainJson({ text })), { text });
});

Deno.test("fitted: any value becomes JSON that fits, or null", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 2, max: 400 }), (value, bytes) => {
      const whole = { value };
      const cut = fitted(whole, bytes).value;
      if (cut === null) return;
      assert.ok(jsonBytes(cut) <= bytes);
      if (jsonBytes(whole) <= bytes) assert.deepEqual(cut, whole);
    }),
  );
});
