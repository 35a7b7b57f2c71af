import assert from "node:assert/strict";
import { Printer } from "../../src/cli/command.ts";
import { createImportProgress, timeText } from "../../src/cli/import_progress.ts";
import { CapturedTerminal } from "./captured_terminal.ts";

const MEBIBYTE = 1024 * 1024;

Deno.test("an import shows the bytes of its file, its rate and the time that is left", () => {
  const terminal = new CapturedTerminal(false, true);
  let now = 0;
  const progress = createImportProgress(
    new Printer(terminal, false, false),
    "Importing",
    1_200 * MEBIBYTE,
    () => now,
  );
  for (; now <= 60_000; now += 500) progress.update((now / 100) * MEBIBYTE, 8 * now);
  const drawn = terminal.errors.split("\r\x1b[2K").slice(1);
  // Ten mebibytes a second: half of the file is left.
  assert.match(
    drawn.at(-1)!,
    /^Importing {2}█+░+ {2}50% {2}480,000 events, 8,000\/s, 1 min 0 s left$/,
  );
  assert.ok(!drawn[1]!.includes("left"), "it is too soon to tell");
  assert.ok(drawn.every((line) => line.length < 80));
  progress.end();
  assert.ok(terminal.errors.endsWith("\r\x1b[2K"));
});

Deno.test("an import shows nothing where scripts read, and no time of a stream", () => {
  const silent = new CapturedTerminal(false, true);
  const progress = createImportProgress(new Printer(silent, true, false), "x", 10, () => 0);
  progress.update(5, 5);
  progress.end();
  assert.equal(silent.errors, "");
  const terminal = new CapturedTerminal(false, true);
  let now = 0;
  const stream = createImportProgress(
    new Printer(terminal, false, false),
    "Importing",
    null,
    () => now,
  );
  for (; now < 5_000; now += 500) stream.update(now, now);
  assert.match(terminal.errors, /Importing {2}4,500 events, 1,000\/s$/);
});

Deno.test("times are shown in two units at most", () => {
  assert.deepEqual([0, 0.4, 59.6, 61, 3_599, 3_600, 90_061].map(timeText), [
    ...["1 s", "1 s", "1 min 0 s", "1 min 1 s", "59 min 59 s", "1 h 0 min", "25 h 1 min"],
  ]);
});
