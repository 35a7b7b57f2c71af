import type { Visitor, VisitorKind } from "../../src/scans/visitor.ts";

/** Numbers in shared memory, by which threads and tests communicate. */
export interface ProbeInputs {
  /** How many timelines were begun, in all; and 1 once visits may go on. */
  readonly begun: Int32Array;
  readonly gate: Int32Array;
  /** The actor whose visit fails; -1: none. */
  readonly failsAt: number;
  /** Whether each visit makes garbage, so that what its thread holds meanwhile grows old. */
  readonly churns?: boolean;
  /** Whether the result is nothing that a message can hold. */
  readonly isUnsendable?: boolean;
}

/** Makes 16 MB of garbage. */
export function churn(): void {
  for (let i = 0; i < 2_000; i++) new Array(1_000).fill(i);
}

/** A visitor that reports each visit and waits at a gate; it collects the visited actors. */
class Probe implements Visitor<number[]> {
  readonly #actors: number[] = [];

  constructor(readonly inputs: ProbeInputs) {}

  visit(actor: number): void {
    const { begun, gate, failsAt, churns = false } = this.inputs;
    if (churns) churn();
    Atomics.add(begun, 0, 1);
    Atomics.notify(begun, 0);
    if (actor === failsAt) throw new Error("seen enough");
    while (Atomics.load(gate, 0) === 0) Atomics.wait(gate, 0, 0);
    this.#actors.push(actor);
  }

  result(): number[] {
    const unsendable = (() => {}) as unknown as number;
    return this.inputs.isUnsendable === true ? [unsendable] : this.#actors;
  }
}

export const PROBE: VisitorKind<ProbeInputs, number[]> = {
  name: "probe",
  create: (inputs) => new Probe(inputs),
  merge: (actors, more) => [...actors, ...more],
};
