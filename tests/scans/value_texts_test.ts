import fc from "fast-check";
import assert from "node:assert/strict";
import { compareBytes, propertyText } from "../../src/scans/value_texts.ts";
import { onBothEngines } from "../support/databases.ts";
import { openWithProjects } from "../support/event_rows.ts";

const text = fc.string({
  unit: fc.constantFrom("a", "b", "é", "\ud7ff", "\ue000", "\uffff", "😀"),
});

Deno.test("compareBytes: the order of the bytes of UTF-8, missing values last", () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      const expected = Buffer.compare(Buffer.from(a), Buffer.from(b));
      assert.equal(Math.sign(compareBytes(a, b)), expected);
    }),
  );
  assert.ok(compareBytes(null, "z") > 0 && compareBytes("z", null) < 0);
  assert.equal(compareBytes(null, null), 0);
});

/**
 * The database's own text of a JSON value: strings without quotes, null as null, numbers as JavaScript
 * writes them. PostgreSQL writes all digits where JavaScript writes a power of ten.
 */
const JSON_TEXT = `CASE
  WHEN jsonb_typeof(json) = 'number'
    AND (abs(json::numeric) >= 1e21 OR abs(json::numeric) > 0 AND abs(json::numeric) < 1e-6)
  THEN regexp_replace(json::float8::text, 'e([+-])0*', 'e\\1')
  ELSE json #>> '{}' END`;

onBothEngines("propertyText: a property's text is the database's", async (_t, db) => {
  const database = await openWithProjects(db);
  const numbers = [
    0,
    1,
    -2.5,
    1e21,
    1e-7,
    1e20,
    1.25e-9,
    -1.5e22,
    5e-324,
    Number.MAX_VALUE,
    2 ** 53,
  ];
  const key = fc.string({ unit: "grapheme", maxLength: 3 }).filter((one) => !one.includes("\0"));
  const { any } = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 3 },
      key,
      fc.boolean(),
      fc.constant(null),
      fc.integer(),
      fc.constantFrom(...numbers, ...numbers.map((number) => -number)),
      fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 3 }),
      fc.array(tie("any"), { maxLength: 3 }),
      fc.dictionary(key, tie("any"), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));
  const values = [...numbers, numbers, { a: numbers }, ...fc.sample(any, 300)].map((value) =>
    JSON.stringify(value)
  );
  const rows = await database.query<{ text: string | null }>(
    `SELECT ${JSON_TEXT} AS text
    FROM (
      SELECT value::jsonb AS json, number
      FROM jsonb_array_elements_text($1::text::jsonb) WITH ORDINALITY AS listed (value, number)
    ) AS v ORDER BY number`,
    [JSON.stringify(values)],
  );
  for (const [i, { text }] of rows.entries()) assert.equal(propertyText(values[i]!), text);
});
