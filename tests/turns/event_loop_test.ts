import assert from "node:assert/strict";
import { turnOfOthers } from "../../src/turns/event_loop.ts";

const ROUNDS = 20;
/** One pass of the loop between pieces of work makes it more than thirty on the average. */
const TURNS_MAX = 5;

Deno.test("turnOfOthers: messages of a socket or a thread are received after a few turns", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const [near, far] = await Promise.all([Deno.connect({ port }), listener.accept()]);
  const waits = [
    async () => {
      const read = far.read(new Uint8Array(1));
      await near.write(new Uint8Array(1));
      await read;
    },
    // Made on a thread of its own.
    () => crypto.subtle.digest("SHA-256", new Uint8Array(1)),
  ];
  for (const wait of waits) {
    let turns = 0;
    for (let round = 0; round < ROUNDS; round++) {
      let isOver = false;
      const waiting = Promise.resolve(wait()).then(() => isOver = true);
      for (; !isOver; turns++) {
        const untilMs = performance.now() + 1;
        while (performance.now() < untilMs);
        await turnOfOthers();
      }
      await waiting;
    }
    assert.ok(turns <= TURNS_MAX * ROUNDS, `${turns} turns`);
  }
  for (const one of [near, far, listener]) one.close();
});
