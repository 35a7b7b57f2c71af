import assert from "node:assert/strict";
import { filesToTry, outcomeOf, summaryOf } from "./second_try.ts";

const suite = (file: string, cases: string) => `<testsuite name="${file}">${cases}</testsuite>`;
const passed = (name: string) => `<testcase name="${name}" line="1">\n</testcase>`;
const failed = (name: string) =>
  `<testcase name="${name}" line="1">\n<failure message="no">Error</failure></testcase>`;
const report = (tests: number, failures: number, ...suites: string[]) =>
  `<testsuites name="deno test" tests="${tests}" failures="${failures}" errors="0">` +
  `${suites.join("\n")}</testsuites>`;

Deno.test("second try: failed tests by their files, steps with their tests", () => {
  const outcome = outcomeOf(report(
    4,
    2,
    suite("./a_test.ts", failed("a &lt;b&gt;") + failed("a &lt;b&gt; &gt; step") + passed("c")),
    suite("./d_test.ts", passed("d")),
    suite("./e_test.ts", failed("e")),
  ));
  assert.deepEqual([...outcome.failed], [["./a_test.ts", ["a <b>"]], ["./e_test.ts", ["e"]]]);
  assert.deepEqual(filesToTry(outcome), ["./a_test.ts", "./e_test.ts"]);
  const good = outcomeOf(report(3, 0, suite("./a_test.ts", passed("a"))));
  assert.equal(
    summaryOf(outcome, good),
    "Failed beside others, and run alone once more:\n  ./a_test.ts: a <b>\n  ./e_test.ts: e\n\n" +
      "ok | 4 passed | 0 failed",
  );
  const bad = outcomeOf(report(3, 1, suite("./e_test.ts", failed("e"))));
  assert.match(summaryOf(outcome, bad), /\nFAILED \| 3 passed \| 1 failed$/);
});

Deno.test("second try: none where a file could not be loaded, or too many have failed", () => {
  const one = suite("./a_test.ts", failed("a"));
  assert.deepEqual(filesToTry(outcomeOf(report(3, 2, one))), []);
  assert.deepEqual(filesToTry(outcomeOf("")), []);
  const suites = (count: number) =>
    Array.from({ length: count }, (_, i) => suite(`./${i}_test.ts`, failed("x")));
  assert.equal(filesToTry(outcomeOf(report(9, 5, ...suites(5)))).length, 5);
  assert.deepEqual(filesToTry(outcomeOf(report(9, 6, ...suites(6)))), []);
});
