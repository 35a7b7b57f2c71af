import assert from "node:assert/strict";
import {
  failedAgain,
  filesOf,
  filterOf,
  outcomeOf,
  summaryOf,
  summaryOfBoth,
  testsToTry,
  together,
} from "./second_try.ts";

const suite = (file: string, cases: string) => `<testsuite name="${file}">${cases}</testsuite>`;
const passed = (name: string) => `<testcase name="${name}" line="1">\n</testcase>`;
const marked = (mark: string) => (name: string) =>
  `<testcase name="${name}" line="1">\n<${mark} message="no">Error</${mark}></testcase>`;
const [failed, skipped] = [marked("failure"), marked("skipped")];
const report = (failures: number, ...suites: string[]) =>
  `<testsuites name="deno test" tests="99" failures="${failures}" errors="0">` +
  `${suites.join("\n")}</testsuites>`;

// A step that failed is counted beside its test.
const FIRST = outcomeOf(report(
  3,
  suite(
    "./a_test.ts",
    failed("a &lt;b&gt; &gt; step") + failed("a &lt;b&gt;") + passed("c") + passed("c &gt; d"),
  ),
  // The step of a test of another file.
  suite("./support.ts", failed("e (1)") + skipped("f") + passed("c &gt; elsewhere")),
));

Deno.test("second try: failed tests by their names, and no steps", () => {
  assert.deepEqual(FIRST.failed, ["a <b>", "e (1)"]);
  assert.deepEqual([FIRST.tests, FIRST.ignored, [...FIRST.passed]], [4, 1, ["c"]]);
  assert.deepEqual(testsToTry(FIRST), ["a <b>", "e (1)"]);
  const [, expression] = /^--filter=\/(.*)\/$/.exec(filterOf(FIRST.failed))!;
  const wanted = new RegExp(expression!);
  for (const name of FIRST.failed) assert.match(name, wanted);
  for (const name of ["a <b>c", "e 1", "c"]) assert.doesNotMatch(name, wanted);
});

Deno.test("second try: only their files are loaded, or all where one is not found", () => {
  const all = ["dist/b_test.ts", "dist/a_test.ts", "dist/c_test.ts"];
  const printed = [
    "./dist/c_test.ts => one ... ok (1s)",
    "./dist/a_test.ts => one ... a step ... FAILED (1s)",
    "./dist/a_test.ts => one ... FAILED (due to 1 failed step) (1s)",
    "\u001b[38;5;245m./dist/b_test.ts => \u001b[0mtwo (2) ... \u001b[31mFAILED\u001b[0m (2s)",
    "one ... FAILED",
  ].join("\n");
  assert.deepEqual(filesOf(["one"], printed, all), ["dist/a_test.ts"]);
  assert.deepEqual(filesOf(["one", "two (2)"], printed, all), ["dist/b_test.ts", "dist/a_test.ts"]);
  assert.deepEqual(filesOf(["one", "three"], printed, all), all);
  assert.deepEqual(filesOf(["one"], "", all), all);
  const oneByOne = [
    "running 1 test from ./dist/c_test.ts",
    "one ... ok (1s)",
    "running 2 tests from ./dist/b_test.ts",
    "one ...",
    "  two (2) ... FAILED (1s)",
    "one ... FAILED (due to 1 failed step) (1s)",
  ].join("\n");
  assert.deepEqual(filesOf(["one"], oneByOne, all), ["dist/b_test.ts"]);
  assert.deepEqual(filesOf(["two (2)"], oneByOne, all), all);
});

Deno.test("second try: what passes has passed; what fails again, or does not run, has failed", () => {
  const good = outcomeOf(report(0, suite("./a_test.ts", passed("a &lt;b&gt;") + passed("e (1)"))));
  assert.deepEqual(failedAgain(FIRST, good), []);
  assert.equal(
    summaryOfBoth(FIRST, good),
    "Failed beside others, and run alone once more:\n  a <b>\n  e (1)\n\n" +
      "ok | 3 passed | 1 ignored | 0 failed",
  );
  const bad = outcomeOf(report(1, suite("./a_test.ts", passed("a &lt;b&gt;") + failed("e (1)"))));
  assert.deepEqual(failedAgain(FIRST, bad), ["e (1)"]);
  assert.match(summaryOfBoth(FIRST, bad), /\nFAILED \| 2 passed \| 1 ignored \| 1 failed$/);
  // A filter that finds nothing ends well, and says nothing.
  for (const nothing of [outcomeOf(""), outcomeOf(report(0))]) {
    assert.deepEqual(failedAgain(FIRST, nothing), FIRST.failed);
    assert.match(summaryOfBoth(FIRST, nothing), /\nFAILED \| 1 passed \| 1 ignored \| 2 failed$/);
  }
  const both = outcomeOf(
    report(1, suite("./a_test.ts", passed("e (1)") + passed("a &lt;b&gt;") + failed("e (1)"))),
  );
  assert.deepEqual(failedAgain(FIRST, both), ["e (1)"]);
});

Deno.test("second try: none where a file could not be loaded, or too many have failed", () => {
  const one = suite("./a_test.ts", failed("a"));
  assert.deepEqual(testsToTry(outcomeOf(report(2, one))), []);
  assert.deepEqual(testsToTry(outcomeOf("")), []);
  const many = (count: number) =>
    suite("./a_test.ts", Array.from({ length: count }, (_, i) => failed(`${i}`)).join(""));
  assert.equal(testsToTry(outcomeOf(report(5, many(5)))).length, 5);
  assert.deepEqual(testsToTry(outcomeOf(report(6, many(6)))), []);
});

Deno.test("second try: runs of different tests are summed up as one", () => {
  const other = outcomeOf(report(0, suite("./b_test.ts", passed("g") + passed("h"))));
  const both = together([FIRST, other]);
  assert.deepEqual([...both.passed], ["c", "g", "h"]);
  assert.deepEqual(testsToTry(both), ["a <b>", "e (1)"]);
  assert.equal(summaryOf(both), "FAILED | 3 passed | 1 ignored | 2 failed");
  assert.equal(summaryOf(together([other])), "ok | 2 passed | 0 failed");
  // A file that could not be loaded has failed, and has no tests.
  const unloaded = together([other, outcomeOf(report(1))]);
  assert.equal(summaryOf(unloaded), "FAILED | 2 passed | 1 failed");
  assert.deepEqual(testsToTry(unloaded), []);
  // A run that was ended leaves no report.
  assert.match(summaryOf(together([other, outcomeOf("")])), /^FAILED /);
});
