import assert from "node:assert/strict";
import type { ReadName } from "../reference/reads.ts";
import type { Answer } from "./stored_world.ts";

/** Members of lists in an answer that say nothing of the events. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  goals: ["match", "valueDefinition"],
  rows: ["devices"],
};

/** The part of an answer that follows from the events: what the reference tells too. */
export function toldOf(read: ReadName, answer: Answer): Answer {
  const { query: _, asOf: __, pending, nextCursor: ___, capture: ____, ...result } = answer;
  assert.equal(pending, 0);
  const list = read === "goals" ? "goals" : read === "heatmaps/paths" ? "rows" : null;
  if (list === null) return result;
  const items = (result[list] as Answer[]).map((item) =>
    Object.fromEntries(Object.entries(item).filter(([name]) => !BESIDE[list]!.includes(name)))
  );
  return { ...result, [list]: items };
}

function isClose(a: number, b: number): boolean {
  if (Number.isInteger(a) && Number.isInteger(b)) return a === b;
  return Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
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
