import assert from "node:assert/strict";
import { FileProblem } from "../../src/importers/file_problem.ts";
import { SUMS_GATHERED_MAX } from "../../src/importers/importer_limits.ts";
import { GatheredSums } from "../../src/importers/sums/gathered_sums.ts";

Deno.test("sums: as many values as memory has room for, and no more", () => {
  assert.equal(new GatheredSums().valuesMax, SUMS_GATHERED_MAX);
  const sums = new GatheredSums(1_000);
  for (let i = 0; i < sums.valuesMax; i++) {
    sums.add("f", "2024-03-01", "path", String(i), { pageviews: 1 });
  }
  sums.add("f", "2024-03-01", "path", "0", { pageviews: 1 });
  assert.throws(
    () => sums.add("f", "2024-03-01", "path", "more", { pageviews: 1 }),
    (error) => error instanceof FileProblem && /cut the export by dates/.test(error.message),
  );
});

Deno.test("sums: texts and days that are alike are one value, whatever they hold, and come back as they were", () => {
  const sums = new GatheredSums();
  const texts = [null, "", "/", "/ä€😀", "\ufeff/", "/".repeat(2_048), "€".repeat(2_048)];
  for (const date of ["2024-03-01", "2024-03-02"]) {
    for (let i = 0; i < 3_000; i++) {
      sums.add("f", date, "path", i < texts.length ? texts[i]! : `/p/${i % 2_000}`, {
        pageviews: i,
        visitors: 0.5,
      });
    }
  }
  sums.add("f", "2024-03-01", "browser", "/", { visits: 2 });
  const [first, second, browsers] = [...sums.days()];
  assert.equal(sums.dayCount, 6, "pages, browsers, and whole days, which the pages tell");
  assert.equal([...sums.days()].length, sums.dayCount);
  assert.deepEqual(first!.rows, second!.rows);
  const names = first!.rows.map(({ value }) => value);
  assert.deepEqual(names.slice(0, texts.length), texts);
  assert.equal(new Set(names).size, names.length);
  const of = (value: string | null) => first!.rows.find((row) => row.value === value)!;
  assert.deepEqual([of("/p/500").pageviews, of("/p/500").visitors], [500 + 2_500, 1]);
  assert.deepEqual([of("/p/3").pageviews, of("/p/3").visits], [2_003, null]);
  assert.deepEqual(
    browsers!.rows.map(({ value, visits, pageviews }) => [value, visits, pageviews]),
    [
      ["/", 2, null],
    ],
  );
  assert.deepEqual(sums.dimensions, [
    { dimension: "path", values: 2 * names.length },
    { dimension: "browser", values: 1 },
  ]);
});
