/**
 * In CI, on a machine that others use too, files with a test that failed are run once more, alone: a
 * browser that took too long beside others is told from what is broken. What fails again has failed,
 * and what failed first is named, to be mended.
 */

/** More files than these are no accident. */
const FILES_MAX = 5;

export interface Outcome {
  readonly tests: number;
  readonly ignored: number;
  /** Tests that failed, by their files. */
  readonly failed: ReadonlyMap<string, readonly string[]>;
  /** Also counts files that could not be loaded, which are nowhere else. */
  readonly failures: number;
}

const countOf = (map: Outcome["failed"]): number =>
  [...map.values()].reduce((sum, names) => sum + names.length, 0);

function textOf(attribute: string): string {
  const marks: Record<string, string> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
  return attribute.replace(/&(lt|gt|quot|apos|amp);/g, (_, mark: string) => marks[mark]!);
}

/** What became of a run, by its report as JUnit writes it. */
export function outcomeOf(report: string): Outcome {
  const [, tests, failures] = /<testsuites [^>]*tests="(\d+)" failures="(\d+)"/.exec(report) ?? [];
  const failed = new Map<string, string[]>();
  for (const [suite, file] of report.matchAll(/<testsuite name="([^"]*)"[\s\S]*?<\/testsuite>/g)) {
    const names = [...suite.matchAll(/<testcase name="([^"]*)"[^>]*>\s*<failure/g)]
      .map(([, name]) => textOf(name!));
    // A step is named behind its test, which has failed with it.
    const own = names.filter((name) => !names.some((test) => name.startsWith(`${test} > `)));
    if (own.length > 0) failed.set(textOf(file!), own);
  }
  const ignored = [...report.matchAll(/<skipped/g)].length;
  return { tests: Number(tests), failures: Number(failures), ignored, failed };
}

/** The files that are worth a second try; none where something else failed, or too much. */
export function filesToTry({ failed, failures }: Outcome): string[] {
  return failed.size > FILES_MAX || countOf(failed) < failures ? [] : [...failed.keys()];
}

/** Both tries as the runner sums one up, and what failed first. */
export function summaryOf(first: Outcome, second: Outcome): string {
  const failed = second.failures;
  const ignored = first.ignored === 0 ? "" : ` | ${first.ignored} ignored`;
  const names = [...first.failed].map(([file, tests]) => `  ${file}: ${tests.join("; ")}`);
  const told = ["Failed beside others, and run alone once more:", ...names].join("\n");
  return `${told}\n\n${failed === 0 ? "ok" : "FAILED"} | ${
    first.tests - first.ignored - failed
  } passed${ignored} | ${failed} failed`;
}
