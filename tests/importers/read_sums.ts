import assert from "node:assert/strict";
import type { ImportedDay } from "../../src/imported/imported_sums.ts";
import type { InputFile } from "../../src/importers/input_file.ts";
import { GatheredSums } from "../../src/importers/sums/gathered_sums.ts";
import type { SumSource } from "../../src/importers/sums/sum_source.ts";
import { allPlainFiles } from "../../src/importers/sums/sum_sources.ts";

/** What becomes of files: the days by dimension, and what is refused. */
export async function gathered(source: SumSource, files: readonly InputFile[]) {
  const sums = new GatheredSums();
  const refused: { file: string; line: number; code: string }[] = [];
  const context = {
    sums,
    siteHost: "shop.test",
    refuse: (file: string, line: number, { code }: { code: string }) =>
      void refused.push({ file, line, code }),
  };
  const read = await Array.fromAsync(
    source.read(await allPlainFiles(files, () => {}), context),
  );
  return { sums, refused, read, days: [...sums.days()] };
}

/** The values of a dimension on a day, with the figures that are told. */
export function valuesOf(days: readonly ImportedDay[], dimension: string, day: string) {
  const found = days.find((one) => one.dimension === dimension && one.day === day);
  assert.ok(found, `${dimension} of ${day}`);
  return Object.fromEntries(found.rows.map(({ value, ...figures }) => [
    String(value),
    Object.fromEntries(Object.entries(figures).filter(([, count]) => count !== null)),
  ]));
}
