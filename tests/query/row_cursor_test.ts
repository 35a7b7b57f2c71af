import fc from "fast-check";
import assert from "node:assert/strict";
import { Problem } from "../../src/problem.ts";
import { afterCursor, encodeRowCursor, readRowCursor } from "../../src/query/row_cursor.ts";
import { SqlParams } from "../../src/query/sql_params.ts";
import { onBothEngines } from "../support/databases.ts";

const query = (cursor: string) => new URLSearchParams({ cursor });
const value = fc.option(
  fc.string({ unit: "binary" }).map((text) => text.toWellFormed().replaceAll("\0", "")),
);

Deno.test("row cursor: decodes to what was encoded, in URL-safe characters", () => {
  fc.assert(
    fc.property(fc.array(fc.integer(), { maxLength: 4 }), value, (counts, value) => {
      const text = encodeRowCursor({ counts, value });
      assert.match(text, /^[\w-]+$/);
      assert.deepEqual(readRowCursor(query(text), counts.length), { counts, value });
    }),
  );
  const longest = encodeRowCursor({ counts: [1, 2, 3], value: "\u0001".repeat(2048) });
  assert.equal(readRowCursor(query(longest), 3)?.value?.length, 2048);
  assert.equal(readRowCursor(new URLSearchParams(), 2), null);
  assert.equal(readRowCursor(query(""), 2), null);
});

Deno.test("row cursor: anything else is refused", () => {
  const encoded = (parsed: unknown) => btoa(JSON.stringify(parsed)).replace(/=+$/, "");
  const cursors = [
    ...["x", "!", "....", "bnVsbA", "A".repeat(30_000), encoded({}), encoded("a"), encoded([])],
    ...[encoded([1, "a"]), encoded([1, 2, 3, "a"]), encoded([1, "2", "a"]), encoded([1, 2, 3])],
    ...[encoded([1, null, "a"]), encoded([1, 2, "\0"]), encoded([1, 2, ["a"]])],
    encodeRowCursor({ counts: [1, 2, 3], value: null }),
  ];
  for (const cursor of cursors) {
    assert.throws(() => readRowCursor(query(cursor), 2), (error) => {
      assert.ok(error instanceof Problem, String(error));
      assert.equal(error.code, "invalid_parameter");
      assert.equal(error.options.errors?.[0]?.field, "cursor");
      return true;
    }, cursor.slice(0, 50));
  }
});

onBothEngines("row cursor: the pages are the list, without gaps or repetitions", async (_, db) => {
  const database = await db.open();
  const values = fc.uniqueArray(
    fc.tuple(
      fc.nat(2),
      fc.nat(2),
      fc.option(fc.constantFrom("a", "B", "é", "", "a'b", "_", "😀", "Z")),
    ),
    { minLength: 1, maxLength: 12, selector: (row) => JSON.stringify(row) },
  );
  await fc.assert(
    fc.asyncProperty(values, fc.integer({ min: 1, max: 3 }), async (rows, size) => {
      const page = async (cursor: string | null, limit: number) => {
        const params = new SqlParams();
        const from = `jsonb_to_recordset(${
          params.text(JSON.stringify(rows.map(([a, b, value]) => ({ a, b, value }))))
        }::jsonb) AS r (a int, b int, value text)`;
        const read = cursor === null ? null : readRowCursor(query(cursor), 2);
        const after = afterCursor(params, read, ["r.a", "r.b"], "r.value");
        return await database.query<{ a: number; b: number; value: string | null }>(
          `SELECT r.a, r.b, r.value FROM ${from} WHERE ${after}
          ORDER BY r.a DESC, r.b DESC, r.value COLLATE "C" ASC NULLS LAST LIMIT ${
            params.int(limit)
          }`,
          params.values,
        );
      };
      const whole = await page(null, 100);
      assert.equal(whole.length, rows.length);
      const paged: typeof whole = [];
      for (let cursor: string | null = null;;) {
        const found = await page(cursor, size);
        paged.push(...found);
        const last = found.at(-1);
        if (last === undefined) break;
        cursor = encodeRowCursor({ counts: [last.a, last.b], value: last.value });
      }
      assert.deepEqual(paged, whole);
    }),
    { numRuns: 60 },
  );
});
