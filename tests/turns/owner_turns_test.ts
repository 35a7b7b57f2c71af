import assert from "node:assert/strict";
import { OwnerTurns } from "../../src/turns/owner_turns.ts";

const NEVER = new AbortController().signal;

/** Reads whose owners and order of beginning are told, and which end when they are told to. */
class ToldReads {
  readonly begun: string[] = [];
  readonly #ends = new Map<string, () => void>();
  readonly turns: OwnerTurns;

  constructor(atOnce: number) {
    this.turns = new OwnerTurns(atOnce);
  }

  /** Asks for a read of the owner that the first letter of its name stands for. */
  ask(name: string, ended = NEVER, isNextPart = false): Promise<void> {
    return this.turns.take(name.charCodeAt(0), ended, () => {
      this.begun.push(name);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#ends.set(name, resolve);
      return promise;
    }, isNextPart);
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)!();
    await settled();
  }
}

async function settled(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

Deno.test("turns of owners: where one runs at once, whoever asks for much waits for themselves", async () => {
  const reads = new ToldReads(1);
  const all = ["a1", "a2", "a3", "b1", "b2", "c1"].map((name) => reads.ask(name));
  await settled();
  for (const [at, name] of ["a1", "b1", "c1", "a2", "b2", "a3"].entries()) {
    assert.equal(reads.begun.length, at + 1);
    assert.equal(reads.begun[at], name);
    await reads.end(name);
  }
  await Promise.all(all);
});

Deno.test("turns of owners: one place is left for others, and who has the fewest under way comes next", async () => {
  const reads = new ToldReads(4);
  const ofOne = ["a1", "a2", "a3", "a4", "a5"].map((name) => reads.ask(name));
  await settled();
  assert.deepEqual(reads.begun, ["a1", "a2", "a3"]);
  const ofOther = ["b1", "b2"].map((name) => reads.ask(name));
  await settled();
  assert.deepEqual(reads.begun.slice(3), ["b1"]);
  await reads.end("a1");
  assert.deepEqual(reads.begun.slice(4), ["b2"]);
  await reads.end("b2");
  assert.deepEqual(reads.begun.slice(5), ["a4"]);
  for (const name of ["a2", "a3", "b1", "a4", "a5"]) await reads.end(name);
  await Promise.all([...ofOne, ...ofOther]);
});

Deno.test("turns of owners: who is gone before their turn leaves the others' as they were", async () => {
  const reads = new ToldReads(1);
  const gone = new AbortController();
  const [first, left] = [reads.ask("a1"), reads.ask("a2", gone.signal)];
  const others = ["b1", "a3"].map((name) => reads.ask(name));
  gone.abort(new Error("gone"));
  await assert.rejects(left, /gone/);
  for (const name of ["a1", "b1", "a3"]) await reads.end(name);
  await Promise.all([first, ...others]);
  assert.deepEqual(reads.begun, ["a1", "b1", "a3"]);
});

Deno.test("turns of owners: next parts are before what has not begun, but before no other owner", async () => {
  const reads = new ToldReads(1);
  const begun = ["a1", "a2", "b1"].map((name) => reads.ask(name));
  const parts = ["a3", "a4"].map((name) => reads.ask(name, NEVER, true));
  await settled();
  for (const name of ["a1", "b1", "a3", "a4", "a2"]) await reads.end(name);
  await Promise.all([...begun, ...parts]);
  assert.deepEqual(reads.begun, ["a1", "b1", "a3", "a4", "a2"]);
});

Deno.test("turns of owners: a read that fails gives its place on", async () => {
  const turns = new OwnerTurns(1);
  const failing = turns.take(1, NEVER, () => Promise.reject(new Error("failed")));
  const next = turns.take(1, NEVER, () => Promise.resolve("read"));
  await assert.rejects(failing, /failed/);
  assert.equal(await next, "read");
});

Deno.test("turns of owners: whoever asks again and again does not keep the others waiting", async () => {
  const reads = new ToldReads(1);
  const all = ["a1", "a2", "a3"].map((name) => reads.ask(name));
  // Two others, each of whom asks for the next read once the last one has ended.
  all.push(reads.ask("b1"), reads.ask("c1"));
  for (let asked = 1; reads.begun.filter((name) => name < "b").length < 3; asked++) {
    assert(asked < 20, `${reads.begun}`);
    await settled();
    const name = reads.begun.at(-1)!;
    await reads.end(name);
    if (name >= "b") all.push(reads.ask(`${name[0]}${asked + 1}`));
  }
  assert.deepEqual(reads.begun.slice(0, 7), ["a1", "b1", "c1", "a2", "b3", "c4", "a3"]);
});
