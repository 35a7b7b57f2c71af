import { nameBit } from "../timelines/run_bits.ts";
import type { EventTest } from "./event_test.ts";

/** One bit of an event's mask, and the events that have it; several tests may have the same bit. */
interface MaskTest {
  readonly bit: number;
  readonly test: EventTest;
}

/** Makes masks of events: which of several tests each passes, if a scope lets it through. */
export class EventMasks {
  /** By the id of a name: every bit that its events may have, and those that all of them have. */
  readonly possible: Uint16Array;
  readonly sure: Uint16Array;
  /** Whether masks depend on more than the name, apart from bots. */
  readonly isNarrowed: boolean;
  readonly #narrowed: readonly MaskTest[];

  /** @param bitsOf returns bits that all events of a name have, whatever the tests; absent: none */
  constructor(
    readonly scope: EventTest,
    tests: readonly MaskTest[],
    bitsOf: (name: number) => number = () => 0,
  ) {
    const names = scope.termMax + 1;
    this.possible = new Uint16Array(names);
    this.sure = new Uint16Array(names);
    for (let name = 0; name < names; name++) {
      if (scope.names !== null && scope.names[name] === 0) continue;
      let sure = bitsOf(name);
      let possible = sure;
      for (const { bit, test } of tests) {
        if (test.names !== null && test.names[name] === 0) continue;
        possible |= bit;
        if (test.isOfName) sure |= bit;
      }
      this.possible[name] = possible;
      this.sure[name] = sure;
    }
    this.#narrowed = tests.filter(({ test }) => !test.isOfName);
    this.isNarrowed = !scope.isOfName || this.#narrowed.length > 0;
  }

  /** Returns the name bits of all names whose events may have one of these mask bits. */
  nameBits(bits: number): number {
    let names = 0;
    for (let name = 0; name < this.possible.length; name++) {
      if ((this.possible[name]! & bits) !== 0) names |= nameBit(name);
    }
    return names;
  }

  /** Returns which of the wanted bits an event has. @param wanted bits that its name makes possible */
  narrow(
    wanted: number,
    name: number,
    path: number,
    context: number,
    actor: number,
    eventBits: number,
  ): number {
    if (!this.scope.passesBeyondName(path, context, actor, eventBits)) return 0;
    let mask = this.sure[name]! & wanted;
    for (const { bit, test } of this.#narrowed) {
      if ((wanted & bit) === 0 || (mask & bit) !== 0) continue;
      if (test.passes(name, path, context, actor, eventBits)) mask |= bit;
    }
    return mask;
  }
}
