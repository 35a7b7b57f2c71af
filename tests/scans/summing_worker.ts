/**
 * A worker of a pool whose visitor sums numbers up, often enough that this is compiled, and returns a list. Named
 * "unprepared", it detaches nothing before that.
 */
import { serveScans } from "../../src/scans/scan_worker_loop.ts";
import type { VisitorKind } from "../../src/scans/visitor.ts";

const NUMBERS = new Int32Array(100_000).fill(1);
const ROUNDS = 300;

function sumOfNumbers(): number {
  let sum = 0;
  for (let i = 0; i < NUMBERS.length; i++) sum += NUMBERS[i]!;
  return sum;
}

const SUMS: VisitorKind<null, Int32Array> = {
  name: "sums",
  create: () => ({
    visit: () => {},
    result: () => Int32Array.from({ length: ROUNDS }, sumOfNumbers),
  }),
  merge: (sums) => sums,
};

if (self.name === "unprepared") {
  ArrayBuffer.prototype.transfer = function () {
    return this;
  };
}
serveScans([SUMS]);
