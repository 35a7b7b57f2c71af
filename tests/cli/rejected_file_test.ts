import assert from "node:assert/strict";
import { runFootfall } from "../../src/cli/cli.ts";
import { assertNoInput } from "../../src/cli/rejected_file.ts";
import { CapturedTerminal } from "./captured_terminal.ts";

const LINES = '{"eventId":"none"}\n{"eventId":\n';

/** A folder with a file of lines that are refused. */
async function besideLines(work: (folder: string, file: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "footfall-rejected-" });
  try {
    const file = `${folder}/rejected.ndjson`;
    await Deno.writeTextFile(file, LINES);
    await work(folder, file);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function run(folder: string, ...args: string[]) {
  const terminal = new CapturedTerminal();
  const code = await runFootfall(["import", ...args], { DATA_DIR: folder }, terminal);
  return { code, errors: terminal.errors };
}

Deno.test("import: a file is not written over with its own refused lines, whatever it is called", () =>
  besideLines(async (folder, file) => {
    const [link, name] = [`${folder}/link.ndjson`, `${folder}/name.ndjson`];
    await Deno.symlink(file, link);
    await Deno.link(file, name);
    const commands = [
      [file],
      [file, "--dry-run"],
      [`${folder}/../${folder.split("/").at(-1)}/rejected.ndjson`, "--dry-run"],
      [link, "--dry-run"],
      [name, "--dry-run"],
      [`${folder}/other.ndjson`, "--dry-run", "--rejected", `${folder}/other.ndjson`],
      ["--from", "posthog", file, "--dry-run"],
      ["--from", "posthog", `${folder}/other.ndjson`, link],
      ["--from", "plausible", name, "--rejected", file],
    ];
    await Deno.writeTextFile(`${folder}/other.ndjson`, LINES);
    for (const command of commands) {
      const { code, errors } = await run(folder, ...command);
      assert.equal(code, 2, `${command.join(" ")}: ${errors}`);
      assert.match(errors, /Refused lines would be written over .*name another file .*--rejected/);
    }
    for (const each of [file, `${folder}/other.ndjson`]) {
      assert.equal(await Deno.readTextFile(each), LINES);
    }
    // Beside another file it is where that one's refused lines go.
    const { code, errors } = await run(folder, `${folder}/other.ndjson`, "--dry-run");
    assert.equal(code, 1, errors);
    assert.match(await Deno.readTextFile(file), /^\{"line":1,"code":/);
    // What was there before, as of an earlier import, is kept beside it.
    const earlier = await Deno.readTextFile(file);
    await run(folder, `${folder}/other.ndjson`, "--dry-run");
    const kept = await Promise.all([1, 2].map((n) => Deno.readTextFile(`${file}.${n}`)));
    assert.deepEqual(kept, [LINES, earlier]);
  }));

Deno.test("import: refused lines do not overwrite the file that is standard input", async () => {
  // What the tests themselves read from.
  await assert.rejects(assertNoInput("/dev/stdin", ["-"]), { name: "UsageMistake" });
  await assertNoInput(Deno.execPath(), ["-"]);
});
