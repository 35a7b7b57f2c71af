/** The rights that `/readyz` looks at are those that the statements of storing, counting and removing need. */
import assert from "node:assert/strict";
import { NEEDED_RIGHTS } from "../../src/db/writable.ts";

const SOURCE = new URL("../../src/", import.meta.url);

/** The tables of statements that name theirs as `${table}`. */
const TABLES_OF: Readonly<Record<string, string>> = {
  "projection/dictionaries.ts": "terms referrers contexts traffic",
  "projection/keyed_deletion.ts": "event_ids sessions acquisition_days visitor_days terms " +
    "technical_names referrers identities actors",
  "projection/rollups.ts": "day_totals session_durations visitor_days acquisition_days",
  "projection/unused_words.ts": "contexts traffic",
};

const COMMENT = /^\s*(\/\/|\/?\*).*$/gm;
const STATEMENT = /\b(INSERT INTO|UPDATE|DELETE FROM|TRUNCATE) ([a-z_]+|\$\{table\})(?=[\s"`;])/g;

/** Returns the rights that the statements of a file need, each as `UPDATE on terms`. */
function rightsOf(file: string): string[] {
  const text = Deno.readTextFileSync(new URL(file, SOURCE)).replace(COMMENT, "");
  const starts = [...text.matchAll(STATEMENT)];
  return starts.flatMap(({ 1: verb, 2: named, index }, i) => {
    const tables = named!.startsWith("$") ? TABLES_OF[file]?.split(" ") : [named!];
    assert(tables, `${file} names a table as \${table}: name it in TABLES_OF`);
    const statement = text.slice(index, starts[i + 1]?.index);
    const rights = [verb!.split(" ")[0]!, ...statement.includes("DO UPDATE") ? ["UPDATE"] : []];
    return tables.flatMap((table) => rights.map((right) => `${right} on ${table}`));
  });
}

Deno.test("assertWritable: the checked rights are those that the statements need", () => {
  const files = ["ingest", "projection", "store"].flatMap((folder) =>
    [...Deno.readDirSync(new URL(folder, SOURCE))].map(({ name }) => `${folder}/${name}`)
  );
  const needed = Object.entries(NEEDED_RIGHTS).map(([table, rights]) =>
    rights.split(" ").map((right) => `${right} on ${table}`)
  );
  const writing = needed.flat().filter((right) => !right.startsWith("SELECT"));
  assert.deepEqual(writing.toSorted(), [...new Set(files.flatMap(rightsOf))].toSorted());
  // What is written is looked for before, or told by what is returned.
  assert(needed.every(([first]) => first!.startsWith("SELECT on ")));
});
