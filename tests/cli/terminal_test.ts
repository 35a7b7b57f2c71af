import assert from "node:assert/strict";
import fc from "fast-check";
import { createProgress } from "../../src/cli/progress.ts";
import { printable, tableText } from "../../src/cli/terminal.ts";
import { CapturedTerminal } from "./captured_terminal.ts";

Deno.test("printable: nothing that moves a cursor, colours or breaks a line survives", () => {
  assert.equal(printable("a\x1b[31mred\x1b[0m\nb\tc\x08d"), "ared b c d");
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(printable(text), /[\u0000-\u001f\u007f-\u009f]/);
  }));
});

Deno.test("tableText: columns are aligned, nothing trails, null is a dash", () => {
  const text = tableText(["ID", "NAME"], [["prj_1", "x"], ["p", null]], (line) => `*${line}*`);
  assert.equal(text, "*ID     NAME*\nprj_1  x\np      –\n");
});

Deno.test({
  name: "processTerminal: a terminal that says 0 columns is as wide as one of an unknown width",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    const module = new URL("../../src/cli/terminal.ts", import.meta.url).href;
    const shown = `import { processTerminal } from "${module}"; ` +
      "console.log(`columns ${processTerminal().columns()}`)";
    const { stdout } = await new Deno.Command("script", {
      args: ["-qec", 'stty cols 0; "$DENO" eval "$SHOWN"', "/dev/null"],
      env: { DENO: Deno.execPath(), SHOWN: shown },
      stdin: "null",
    }).output();
    assert.match(new TextDecoder().decode(stdout), /columns 80\b/);
  },
});

Deno.test("createProgress: silent without a terminal and with --json", () => {
  for (const [errorIsTerminal, json] of [[false, false], [true, true]] as const) {
    const terminal = new CapturedTerminal(true, errorIsTerminal);
    const progress = createProgress({ terminal, json }, "Seeding", 10, () => 0);
    progress.update(5, "5 events");
    progress.end();
    assert.equal(terminal.errors, "");
  }
});

Deno.test("createProgress: draws a bar within the width, at most ten times a second", () => {
  const terminal = new CapturedTerminal(false, true);
  let now = 0;
  const progress = createProgress({ terminal, json: false }, "Seeding", 200, () => now);
  for (; now < 1000; now += 10) progress.update(now / 10, `${now} events`);
  const drawn = terminal.errors.split("\r\x1b[2K").slice(1);
  assert.equal(drawn.length, 10);
  assert.match(drawn.at(-1)!, /^Seeding {2}█+░+ {2}45% {2}900 events$/);
  assert.ok(drawn.every((line) => line.length < 80));
  progress.end();
  assert.ok(terminal.errors.endsWith("\r\x1b[2K"));
});
