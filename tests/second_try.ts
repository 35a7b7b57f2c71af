/**
 * In CI, on a machine that others use too, tests that failed are run once more, without others: a browser that took
 * too long beside others is told from what is broken. What fails again, or does not run again, has
 * failed, and what failed first is named, to be mended.
 */

import { stripVTControlCharacters } from "node:util";

/** More tests than these are no accident. */
const TESTS_MAX = 5;

export interface Outcome {
  /** Tests, without their steps. */
  readonly tests: number;
  readonly ignored: number;
  readonly passed: ReadonlySet<string>;
  readonly failed: readonly string[];
  /** Also counts files that could not be loaded, which are nowhere else, and no steps. */
  readonly failures: number;
}

function textOf(attribute: string): string {
  const marks: Record<string, string> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
  return attribute.replace(/&(lt|gt|quot|apos|amp);/g, (_, mark: string) => marks[mark]!);
}

/** What became of a run, by its report as JUnit writes it. A file there is where a test's function stands. */
export function outcomeOf(report: string): Outcome {
  const [passed, failed] = [new Set<string>(), [] as string[]];
  let [tests, ignored] = [0, 0];
  const cases = [...report.matchAll(/<testcase name="([^"]*)"[^>]*>\s*(<failure|<skipped)?/g)]
    .map(([, name, mark]) => ({ name: textOf(name!), mark }));
  const names = new Set(cases.map(({ name }) => name));
  // A step is named behind its test, which has failed with it, and may stand in another file than it.
  const isStep = (name: string) => {
    for (let at = name.indexOf(" > "); at >= 0; at = name.indexOf(" > ", at + 1)) {
      if (names.has(name.slice(0, at))) return true;
    }
    return false;
  };
  let failures = Number(/<testsuites [^>]*failures="(\d+)"/.exec(report)?.[1]);
  for (const { name, mark } of cases) {
    if (isStep(name)) {
      // The report counts those that failed beside their tests.
      if (mark === "<failure") failures--;
      continue;
    }
    tests++;
    if (mark === "<failure") failed.push(name);
    else if (mark === "<skipped") ignored++;
    else passed.add(name);
  }
  return { tests, failures, ignored, passed, failed };
}

/** What became of runs of different tests. */
export function together(runs: readonly Outcome[]): Outcome {
  const sum = (count: (run: Outcome) => number) => runs.reduce((all, run) => all + count(run), 0);
  return {
    tests: sum(({ tests }) => tests),
    ignored: sum(({ ignored }) => ignored),
    passed: new Set(runs.flatMap(({ passed }) => [...passed])),
    failed: runs.flatMap(({ failed }) => failed),
    failures: sum(({ failures }) => failures),
  };
}

/** The tests that are worth a second try; none where something else failed, or too much. */
export function testsToTry({ failed, failures }: Outcome): readonly string[] {
  return failed.length > TESTS_MAX || failed.length !== failures ? [] : failed;
}

/** What has the runner run these tests alone. */
export function filterOf(names: readonly string[]): string {
  return `--filter=/^(?:${names.map((name) => RegExp.escape(name)).join("|")})$/`;
}

/**
 * Lines of what a runner printed, each with its file: that is named in front of it, or above it where one file ran at a
 * time. "": neither.
 */
function linesOf(printed: string): { readonly file: string; readonly line: string }[] {
  let above = "";
  return stripVTControlCharacters(printed).split("\n").map((text) => {
    above = /^running \d+ tests? from \.\/(.+)$/.exec(text)?.[1] ?? above;
    const [, file = above, line = text] = /^\.\/(\S+) => (.*)$/.exec(text) ?? [];
    return { file, line };
  });
}

/**
 * The files of these tests, by what the runner printed of the first try; all files where a test
 * is not found there. Loading all takes minutes, even where nothing of them is run.
 */
export function filesOf(
  names: readonly string[],
  printed: string,
  all: readonly string[],
): readonly string[] {
  const lines = linesOf(printed);
  const found = new Set<string>();
  for (const name of names) {
    // Several files may have a test of this name.
    const files = lines
      .filter(({ file, line }) => file !== "" && line.startsWith(`${name} ... FAILED`))
      .map(({ file }) => file);
    if (files.length === 0 || files.some((file) => !all.includes(file))) return all;
    for (const file of files) found.add(file);
  }
  return all.filter((file) => found.has(file));
}

/** What did not pass the second time: it failed, or did not run. */
export function failedAgain(first: Outcome, second: Outcome): readonly string[] {
  return first.failed.filter((name) => second.failed.includes(name) || !second.passed.has(name));
}

/** An outcome as the runner sums one up. */
export function summaryOf({ tests, ignored, failed, failures }: Outcome): string {
  const told = ignored === 0 ? "" : ` | ${ignored} ignored`;
  // What could not be loaded is among the failures, and none of the tests.
  const passed = tests - ignored - failed.length;
  return `${failures === 0 ? "ok" : "FAILED"} | ${passed} passed${told} | ${failures} failed`;
}

/** Both tries summed up, and what failed first. */
export function summaryOfBoth(first: Outcome, second: Outcome): string {
  const failed = failedAgain(first, second);
  const names = first.failed.map((name) => `  ${name}`);
  const told = ["Failed beside others, and run alone once more:", ...names].join("\n");
  return `${told}\n\n${summaryOf({ ...first, failed, failures: failed.length })}`;
}
