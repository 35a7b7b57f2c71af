import { bitsOfPassing, nameBit, pathBit } from "../timelines/run_bits.ts";
import type { RunBits } from "../timelines/timeline.ts";
import { type EventPasses, EventTest } from "./event_test.ts";

/** The group of the names whose events are not selected, and of the selected names that no match takes. */
export const UNSELECTED = 0;
export const UNMATCHED = 1;

/**
 * Groups the names that the same matches take, so that one look at a name tells which matches to try. Groups after
 * `UNMATCHED` hold the names that some match takes; `matches`, by group: those that may take its events.
 */
function groupNames(scope: EventTest, tests: readonly EventTest[]) {
  const length = scope.termMax + 1;
  const selected = scope.names;
  let groupOf = new Int32Array(length).fill(UNMATCHED);
  if (selected !== null) groupOf = groupOf.map((_, name) => selected[name]!);
  let matches: number[][] = [[], []];
  for (const [match, { names }] of tests.entries()) {
    if (names === null) {
      matches = matches.map((some, group) => group === UNSELECTED ? some : [...some, match]);
      continue;
    }
    // Splits each group in two: names that this match takes, and the rest.
    const taken = new Int32Array(matches.length);
    for (let name = 0; name < length; name++) {
      const group = groupOf[name]!;
      if (names[name] === 0 || group === UNSELECTED) continue;
      taken[group] ||= matches.push([...matches[group]!, match]) - 1;
      groupOf[name] = taken[group]!;
    }
  }
  // A match of any name takes the names of `UNMATCHED` too: they move to a group after it.
  if (matches[UNMATCHED]!.length > 0) {
    const moved = matches.push(matches[UNMATCHED]!) - 1;
    groupOf = groupOf.map((group) => group === UNMATCHED ? moved : group);
  }
  return { groupOf, matches: matches.map((some) => Int32Array.from(some)) };
}

/** Returns the paths that pass at least one of these tests; null: all do. */
function unionOfPaths(tests: readonly EventTest[]): Uint8Array | null {
  const tables = tests.map(({ paths }) => paths);
  const [first, ...others] = tables.filter((table) => table !== null);
  if (first === undefined || others.length + 1 < tables.length) return null;
  const union = first.slice();
  for (const table of others) table.forEach((one, path) => union[path]! |= one);
  return union;
}

/** Which events are selected, and which of several matches take them, as plain data. */
export interface MatchPasses {
  readonly scope: EventPasses;
  readonly tests: readonly EventPasses[];
  /** By name: 1 where its events count even if no match takes them; null: events of all names do. */
  readonly counted: Uint8Array | null;
}

/** Tests which events are selected, and which of several matches take them. */
export class MatchTests {
  readonly scope: EventTest;
  readonly tests: readonly EventTest[];
  readonly groupOf: Int32Array;
  readonly matches: readonly Int32Array[];
  /** By group: the paths of events that some match may take; null: all. */
  readonly pathsOf: readonly (Uint8Array | null)[];
  /** The paths of events that any match may take; null: all. */
  readonly paths: Uint8Array | null;
  /** Whether selecting an event depends on more than its name (apart from bots). */
  readonly isScopeNarrowed: boolean;
  /** By match: 1 if taking an event depends on more than its name. */
  readonly narrowed: Uint8Array;
  /** See `MatchPasses`. */
  readonly counted: Uint8Array | null;
  /** The bits of all names and of all paths whose events some match may take. */
  readonly bits: RunBits;

  constructor(passes: MatchPasses, words: readonly Int32Array[]) {
    const scope = new EventTest(passes.scope, words);
    const tests = passes.tests.map((one) => new EventTest(one, words));
    const { counted } = passes;
    this.scope = scope;
    this.counted = counted;
    this.tests = tests;
    const { groupOf, matches } = groupNames(scope, tests);
    this.groupOf = groupOf;
    this.matches = matches;
    this.pathsOf = matches.map((some) => unionOfPaths([...some].map((match) => tests[match]!)));
    this.paths = unionOfPaths(tests) ?? scope.paths;
    this.isScopeNarrowed = !scope.isOfName;
    const names = groupOf.reduce(
      (bits, group, name) => group > UNMATCHED ? bits | nameBit(name) : bits,
      0,
    );
    this.bits = { names, paths: bitsOfPassing(this.paths, pathBit) };
    this.narrowed = Uint8Array.from(tests, ({ isOfName }) => Number(!isOfName));
  }

  /** Whether any match takes a selected event whose name is in this group. */
  takesAny(
    group: number,
    path: number,
    context: number,
    actor: number,
    eventBits: number,
  ): boolean {
    const matches = this.matches[group]!;
    for (let i = 0; i < matches.length; i++) {
      const match = matches[i]!;
      if (this.narrowed[match] === 0) return true;
      if (this.tests[match]!.passesBeyondName(path, context, actor, eventBits)) return true;
    }
    return false;
  }
}
