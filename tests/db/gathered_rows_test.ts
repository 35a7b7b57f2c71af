import assert from "node:assert/strict";
import { gatheredRows } from "../../src/db/gathered_rows.ts";
import { onFreshEngines } from "../support/databases.ts";

const NAMES = ["number", "ms", "text", "id", "list"] as const;

onFreshEngines(
  "gathered rows: the statement's rows, in its order",
  async (t, db) => {
    const database = await db.open();
    const id = "0190a1b2-0000-7000-8000-00000000000a";
    const rows = [
      { number: 2, ms: 1_790_000_000_123, text: 'a "quoted" \\ \n ümlaut', id, list: [1, 2, 3] },
      { number: null, ms: -1, text: null, id: null, list: null },
      { number: 1, ms: 2 ** 53 - 1, text: "", id, list: [] },
    ];
    const select = `
    SELECT number::int, ms::int8, text, id::uuid, list::int[]
    FROM unnest($1::text::int[], $2::text::int8[], $3::text::text[], $4::text::uuid[], $5::text::text[])
      WITH ORDINALITY AS r (number, ms, text, id, list, place)
    WHERE place <= $6::int ORDER BY place`;
    const params = [
      "{2,NULL,1}",
      `{1790000000123,-1,${2 ** 53 - 1}}`,
      '{"a \\"quoted\\" \\\\ \n ümlaut",NULL,""}',
      `{${id},NULL,${id}}`,
      '{"{1,2,3}",NULL,"{}"}',
    ];
    await t.step("texts, lists and nulls as they are", async () => {
      assert.deepEqual(await gatheredRows(database, NAMES, select, [...params, 3]), rows);
    });
    await t.step("none of none", async () => {
      assert.deepEqual(await gatheredRows(database, NAMES, select, [...params, 0]), []);
    });
  },
);
