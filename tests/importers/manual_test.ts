import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { IMPORTED_SOURCES } from "../../src/imported/imported_sums.ts";
import type { MappingNote } from "../../src/importers/source.ts";
import { loadSource, SOURCE_NAMES } from "../../src/importers/sources.ts";
import { loadSumSource } from "../../src/importers/sums/sum_sources.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Text on one line, with the marks of emphasis that the formatter writes. */
const flowing = (text: string) => text.replaceAll("*", "_").replace(/\s+/g, " ").trim();

/** The rows of a page's tables, each as its cells. */
function rowsOf(page: string): string[][] {
  return Deno.readTextFileSync(join(ROOT, page)).split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) => line.slice(1, -1).split(" | ").map((cell) => flowing(cell.replace(/\|$/, ""))));
}

Deno.test("the manual has a row for everything that a product's rows become, and for nothing else", async () => {
  const shown = rowsOf("docs/moving-in.md").filter(([, ours]) => ours !== "Footfall")
    .filter(([first = ""]) => !/^-+$/.test(first));
  const expected: string[][] = [];
  for (const name of SOURCE_NAMES) {
    const { notes } = await loadSource(name);
    for (const { theirs, ours, how = "" } of notes) {
      expected.push([theirs, ours ?? "not imported", how].map(flowing));
    }
  }
  assert.deepEqual(shown, expected);
});

Deno.test("the manual says what is taken of each product, and how its shape is known", async () => {
  const page = flowing(Deno.readTextFileSync(join(ROOT, "docs/moving-in.md")));
  for (const name of SOURCE_NAMES) {
    const { title, takes, shape } = await loadSource(name);
    assert.ok(page.includes(flowing(`## ${title} \`--from ${name}\` takes ${takes}.`)), title);
    assert.ok(page.includes(flowing(`Known: ${shape}.`)), title);
  }
});

/** What becomes of what, and what does not come along, as the README tells it in two cells. */
function toldOf(notes: readonly MappingNote[]): string[] {
  const taken = notes.flatMap(({ theirs, ours }) => ours === null ? [] : [`${theirs} → ${ours}`]);
  const left = notes.filter(({ ours }) => ours === null).map(({ theirs }) => theirs);
  return [taken.join("<br>"), left.join("<br>")];
}

Deno.test("the README says of each product what is taken, how it is imported, and what is not", async () => {
  const rows = rowsOf("README.md").map((row) => row.join(" | "));
  const products = [
    ...await Promise.all(SOURCE_NAMES.map(loadSource)),
    ...await Promise.all(IMPORTED_SOURCES.map(loadSumSource)),
  ];
  const expected = products.flatMap(({ name, title, takes, notes }) => [
    [title, `\`--from ${name}\``, takes],
    [title, ...toldOf(notes)],
  ]).map((row) => row.map(flowing).join(" | "));
  const titles = products.map(({ title }) => title);
  const shown = rows.filter((row) =>
    titles.includes(row.split(" | ")[0]!) && / \| .* \| /.test(row)
  );
  assert.deepEqual(shown.toSorted(), expected.toSorted());
});
