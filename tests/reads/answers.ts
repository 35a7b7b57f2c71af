import assert from "node:assert/strict";
import type { ReadName } from "../reference/reads.ts";
import type { Answer } from "./stored_world.ts";

/** Members of lists in an answer that say nothing of the events. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  goals: ["match", "valueDefinition"],
  rows: ["devices"],
  findings: ["text", "drilldown", "notes"],
};

/** Which list of an answer has them. */
const LISTS: Partial<Record<ReadName, string>> = {
  goals: "goals",
  "heatmaps/paths": "rows",
  insights: "findings",
};

/** The part of an answer that follows from the events: what the reference tells too. */
export function toldOf(read: ReadName, answer: Answer): Answer {
  const { query: _, asOf: __, pending, nextCursor: ___, capture: ____, ...result } = answer;
  assert.equal(pending, 0);
  const list = LISTS[read];
  const plain = (of: Answer): Answer => {
    // Which segment it is of is what was asked for.
    const { segment: _, ...told } = of;
    if (list === undefined) return told;
    return { ...told, [list]: withoutBeside(told[list] as Answer[], BESIDE[list]!) };
  };
  const { previous } = result as { previous?: Answer };
  // Insights name the period that they compare with, and no figures of it.
  const isCompared = typeof previous === "object" && previous !== null && read !== "insights";
  return { ...plain(result), ...isCompared ? { previous: plain(previous) } : {} };
}

function withoutBeside(items: readonly Answer[], beside: readonly string[]): Answer[] {
  return items.map((item) => {
    const told = Object.fromEntries(
      Object.entries(item).filter(([name]) => !beside.includes(name)),
    );
    const { evidence } = told as { evidence?: Answer[] };
    return evidence === undefined ? told : { ...told, evidence: withoutBeside(evidence, beside) };
  });
}

/** A change is a quotient less 1: of nearly equal amounts it is the rounding of a number near 1 that is left. */
const ROUNDED_MAX = 1e-15;

function isClose(a: number, b: number): boolean {
  if (Number.isInteger(a) && Number.isInteger(b)) return a === b;
  return Math.abs(a - b) <= Math.max(ROUNDED_MAX, 1e-9 * Math.max(Math.abs(a), Math.abs(b)));
}

/**
 * The first place where two answers differ, and how; null where they do not. Whole numbers must be
 * the same, fractions to nine digits; neither may have a member that the other has not.
 */
export function differenceOf(actual: unknown, expected: unknown, path = "answer"): string | null {
  if (typeof actual === "number" && typeof expected === "number" && isClose(actual, expected)) {
    return null;
  }
  if (actual === expected) return null;
  const areObjects = typeof actual === "object" && actual !== null &&
    typeof expected === "object" && expected !== null;
  if (!areObjects || Array.isArray(actual) !== Array.isArray(expected)) {
    return `${path}: ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`;
  }
  for (const key of new Set([...Object.keys(actual), ...Object.keys(expected)])) {
    const [one, other] = [actual, expected].map((whole) => (whole as Answer)[key]);
    const difference = differenceOf(one, other, `${path}.${key}`);
    if (difference !== null) return difference;
  }
  return null;
}
