/** Finds the known values that are nearest to an unknown one. */
import { SUGGESTIONS_MAX } from "../limits.ts";

/** A value, and its name where it is a code. */
export interface Candidate {
  readonly value: string;
  readonly name?: string;
}

/** Longer texts are near only if they are equal. */
const COMPARED_LENGTH_MAX = 100;
const TYPING_ERRORS_MAX = 3;
/** Shorter texts are not searched for within others. */
const PART_LENGTH_MIN = 3;

/** Returns a text without diacritics and in lower case, to compare texts as people do. */
export function plainText(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();
}

/**
 * Returns how many letters must be inserted, removed or replaced to turn `a` into `b`; `most` + 1 if more
 * than `most`. Computes only cells within `most` of the diagonal: O(length · most).
 */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = new Array<number>(b.length + 1).fill(most + 1);
    if (i <= most) row[0] = i;
    const last = Math.min(b.length, i + most);
    for (let j = Math.max(1, i - most); j <= last; j++) {
      const replaced = before[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row[j] = Math.min(replaced, before[j]! + 1, row[j - 1]! + 1);
    }
    before = row;
  }
  return Math.min(before[b.length]!, most + 1);
}

/** Returns the distance of a wanted text from a known one: 0: equal; null: not near. */
function distanceOf(wanted: string, text: string): number | null {
  if (text === wanted) return 0;
  if (Math.max(wanted.length, text.length) > COMPARED_LENGTH_MAX) return null;
  const isLong = wanted.length >= PART_LENGTH_MIN;
  if (isLong && text.startsWith(wanted)) return 1;
  const most = Math.min(TYPING_ERRORS_MAX, Math.floor(wanted.length / 3));
  const errors = editDistance(wanted, text, most);
  if (errors <= most) return 1 + errors;
  return isLong && text.includes(wanted) ? 2 + TYPING_ERRORS_MAX : null;
}

/** Returns the candidates that are near to a text by value or name, the nearest first. */
export function nearestOf(text: string, candidates: readonly Candidate[]): Candidate[] {
  const wanted = plainText(text);
  if (wanted === "") return [];
  return candidates.flatMap((candidate) => {
    const { value, name } = candidate;
    // Two codes of two letters are always near each other, so those are compared by name only.
    const ofValue = name !== undefined && plainText(value) !== wanted
      ? null
      : distanceOf(wanted, plainText(value));
    const ofName = name === undefined ? null : distanceOf(wanted, plainText(name));
    const distances = [ofValue, ofName].filter((one) => one !== null);
    return distances.length === 0 ? [] : [{ candidate, distance: Math.min(...distances) }];
  }).sort((a, b) => a.distance - b.distance || (a.candidate.value < b.candidate.value ? -1 : 1))
    .slice(0, SUGGESTIONS_MAX).map(({ candidate }) => candidate);
}
