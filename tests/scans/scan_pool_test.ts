import assert from "node:assert/strict";
import { ScanLost, ScanPool } from "../../src/scans/scan_pool.ts";
import type { ScanOrder } from "../../src/scans/scan_task.ts";
import type { LoadedSegment } from "../../src/timelines/loaded_segment.ts";
import type { ScannedTimelines } from "../../src/timelines/picked_timelines.ts";
import { SharedMemory } from "../../src/timelines/shared_memory.ts";
import { cutsOf, type TimelineColumns } from "../../src/timelines/timeline_table.ts";
import { loadedSegment, segmentOfTold, told } from "../timelines/timeline_world.ts";
import { churn, PROBE, type ProbeInputs } from "./probe_visitor.ts";

const ACTORS = 12;
const numbers = () => new Int32Array(new SharedArrayBuffer(4));

/** Keeps the asking thread from visiting, because its visits would wait at the gate for ever. */
const NEVER = -Infinity;

/** A pool whose every task is one timeline, and its workers, in the order in which they began. */
function poolOf(size: number, spareGraceMs = NEVER) {
  const workers: Worker[] = [];
  const start = () => {
    const worker = new Worker(import.meta.resolve("./probe_worker.ts"), { type: "module" });
    workers.push(worker);
    return worker;
  };
  const pool = new ScanPool(size, start, {
    inPlaceEventsMax: 0,
    taskTimelinesMax: 1,
    spareGraceMs,
  });
  return { pool, workers };
}

const timelinesOf = (columns: TimelineColumns): ScannedTimelines => ({
  columns,
  placeOf: null,
  touched: null,
});

/** Actors 1 to `ACTORS`, each with one event. */
function orderOf(inputs: ProbeInputs, byRun = false): ScanOrder {
  const events = Array.from({ length: ACTORS }, (_, i) => told(i + 1, i, 1));
  const segment: LoadedSegment = loadedSegment(segmentOfTold(events)!, 1);
  const columns = {
    offsets: Int32Array.from({ length: ACTORS + 2 }, (_, actor) => Math.max(0, actor - 1)),
    segmentOf: new Int32Array(ACTORS),
    starts: Int32Array.from({ length: ACTORS }, (_, i) => i),
    ends: Int32Array.from({ length: ACTORS }, (_, i) => i + 1),
    runBits: new Int32Array(ACTORS).fill(-1),
  };
  return {
    visitor: PROBE.name,
    inputs,
    segments: [segment],
    words: [],
    timelines: byRun ? null : timelinesOf({ ...columns, cuts: cutsOf(columns, 0, ACTORS + 1) }),
    actorOf: Int32Array.from({ length: ACTORS + 1 }, (_, i) => i),
    sessions: null,
    actors: [],
  };
}

const everybody = Array.from({ length: ACTORS }, (_, i) => i + 1);
const inOrder = (actors: readonly number[]) => actors.toSorted((a, b) => a - b);

/** Returns inputs whose gate is open, or is opened later. */
function probe(isOpen: boolean, failsAt = -1): ProbeInputs {
  const gate = numbers();
  gate[0] = Number(isOpen);
  return { begun: numbers(), gate, failsAt };
}

function open({ gate }: ProbeInputs): void {
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
}

/** Waits until `count` visits have begun. */
async function untilBegun({ begun }: ProbeInputs, count: number): Promise<void> {
  for (let now = Atomics.load(begun, 0); now < count; now = Atomics.load(begun, 0)) {
    await Atomics.waitAsync(begun, 0, now).value;
  }
}

Deno.test("scan pool: everybody is visited once, on however many threads, by actor and by run", async () => {
  for (const size of [0, 1, 3]) {
    const { pool, workers } = poolOf(size);
    for (const byRun of [false, true]) {
      const inputs = probe(true);
      const actors = await pool.run(PROBE, orderOf(inputs, byRun));
      assert.deepEqual(inOrder(actors), everybody);
      assert.equal(inputs.begun[0], ACTORS);
    }
    assert.equal(workers.length, size);
    pool.close();
  }
});

Deno.test("scan pool: no worker is started for what is visited in place", () => {
  const start = () => assert.fail("a worker is started");
  const few = new ScanPool(2, start);
  return few.run(PROBE, orderOf(probe(true)))
    .then((actors) => assert.deepEqual(inOrder(actors), everybody));
});

Deno.test("scan pool: scans take turns", async () => {
  const { pool } = poolOf(1);
  const [first, second] = [probe(false), probe(true)];
  const running = pool.run(PROBE, orderOf(first));
  await untilBegun(first, 1);
  const other = pool.run(PROBE, orderOf(second));
  open(first);
  // Both end, and neither waits until the other has ended.
  assert.deepEqual(inOrder(await other), everybody);
  assert.deepEqual(inOrder(await running), everybody);
  pool.close();
});

Deno.test("scan pool: a scan that is cancelled ends with the tasks that run", async () => {
  const { pool } = poolOf(2);
  const inputs = probe(false);
  const cancel = new AbortController();
  const running = pool.run(PROBE, orderOf(inputs), cancel.signal);
  let isSettled = false;
  const settled = running.then(() => {}, () => {}).then(() => isSettled = true);
  await untilBegun(inputs, 2);
  cancel.abort(new Error("nobody waits"));
  await Promise.resolve();
  assert.equal(isSettled, false, "its columns are in use until its tasks have ended");
  open(inputs);
  await assert.rejects(running, /nobody waits/);
  await settled;
  assert.equal(Atomics.load(inputs.begun, 0), 2);
  const aborted = AbortSignal.abort(new Error("never begun"));
  await assert.rejects(pool.run(PROBE, orderOf(probe(true)), aborted), /never begun/);
  assert.deepEqual(inOrder(await pool.run(PROBE, orderOf(probe(true)))), everybody);
  pool.close();
});

Deno.test("scan pool: in place too a scan ends once it is cancelled", async () => {
  const { pool } = poolOf(0);
  const cancel = new AbortController();
  const running = pool.run(PROBE, orderOf(probe(true)), cancel.signal);
  cancel.abort(new Error("nobody waits"));
  await assert.rejects(running, /nobody waits/);
});

Deno.test("scan pool: what a visit throws ends its scan alone", async () => {
  for (const size of [0, 2]) {
    const { pool } = poolOf(size);
    await assert.rejects(pool.run(PROBE, orderOf(probe(true, 5))), /seen enough/);
    assert.deepEqual(inOrder(await pool.run(PROBE, orderOf(probe(true)))), everybody);
    pool.close();
  }
});

Deno.test("scan pool: a result that no message can hold fails its scan alone", async () => {
  const { pool, workers } = poolOf(2);
  const unsendable = pool.run(PROBE, orderOf({ ...probe(true), isUnsendable: true }));
  await assert.rejects(unsendable, /could not be cloned/);
  assert.deepEqual(inOrder(await pool.run(PROBE, orderOf(probe(true)))), everybody);
  assert.equal(workers.length, 2, "no worker was lost");
  pool.close();
});

Deno.test("scan pool: what a lost worker visited is visited again, by another", async () => {
  const { pool, workers } = poolOf(2);
  const inputs = probe(false);
  const running = pool.run(PROBE, orderOf(inputs));
  await untilBegun(inputs, 2);
  // This is no request: it causes an uncaught error after the running task.
  workers[0]!.postMessage(null);
  open(inputs);
  assert.deepEqual(inOrder(await running), everybody);
  assert.equal(workers.length, 3);
  assert.equal(pool.workers, 2);
  assert.deepEqual(inOrder(await pool.run(PROBE, orderOf(probe(true)))), everybody);
  pool.close();
});

Deno.test("scan pool: a scan that loses workers twice fails, and others go on", async () => {
  const { pool, workers } = poolOf(2);
  const inputs = probe(false);
  const running = pool.run(PROBE, orderOf(inputs));
  await untilBegun(inputs, 2);
  for (const worker of [...workers]) worker.postMessage(null);
  open(inputs);
  await assert.rejects(running, ScanLost);
  assert.deepEqual(inOrder(await pool.run(PROBE, orderOf(probe(true)))), everybody);
  pool.close();
});

Deno.test("scan pool: others have their turn while it visits in place", async () => {
  const { pool } = poolOf(0);
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const order = orderOf(probe(true));
  const slow = {
    ...PROBE,
    create: () => ({
      visit: () => {
        const untilMs = performance.now() + 20;
        while (performance.now() < untilMs);
      },
      result: () => [],
    }),
  };
  const { columns } = order.timelines!;
  const cuts = Int32Array.from({ length: ACTORS + 2 }, (_, i) => i);
  await pool.run(slow, { ...order, timelines: timelinesOf({ ...columns, cuts }) });
  clearInterval(timer);
  assert.ok(turns >= 3, `${turns} turns`);
});

/** The probe, whose visits on the asking thread call `visited` and wait at no gate. */
function seenHere(visited: (actor: number) => void): typeof PROBE {
  const actors: number[] = [];
  const visit = (actor: number) => {
    actors.push(actor);
    visited(actor);
  };
  return { ...PROBE, create: () => ({ visit, result: () => actors }) };
}

Deno.test("scan pool: the thread that asks visits what no worker is at, while it has time", async () => {
  for (const byRun of [false, true]) {
    const { pool } = poolOf(1, Infinity);
    const inputs = probe(false);
    const here: number[] = [];
    const kind = seenHere((actor) => {
      // The worker waits at the gate with the first of them, and the next waits behind it.
      if (here.push(actor) === ACTORS - 2) open(inputs);
    });
    assert.deepEqual(inOrder(await pool.run(kind, orderOf(inputs, byRun))), everybody);
    assert.ok(here.length >= ACTORS - 2, `${here.length} visits`);
    pool.close();
  }
});

Deno.test("scan pool: a worker is given its next task while the thread that asks is busy", async () => {
  const { pool } = poolOf(1, Infinity);
  await pool.run(PROBE, orderOf(probe(true)));
  const inputs = probe(true);
  const begunIn = (count: number) => {
    const untilMs = Date.now() + 20_000;
    while (Atomics.load(inputs.begun, 0) < count && Date.now() < untilMs);
    return Atomics.load(inputs.begun, 0) >= count;
  };
  const { now } = performance;
  // Time stands still, so that the thread never yields, and no reply comes.
  performance.now = () => 0;
  const given: boolean[] = [];
  // It is sent two requests at once, the first of a timeline without events, and then one for each answer.
  const kind = seenHere(() => given.push(begunIn(Math.min(given.length + 1, ACTORS / 3))));
  try {
    assert.deepEqual(inOrder(await pool.run(kind, orderOf(inputs))), everybody);
  } finally {
    performance.now = now;
    pool.close();
  }
  assert.ok(given.length > 2 && given.every(Boolean), `given at the visits: ${given}`);
});

Deno.test("scan pool: the thread that asks takes a piece of a task, and the rest stays one", async () => {
  const start = () => new Worker(import.meta.resolve("./probe_worker.ts"), { type: "module" });
  const pool = new ScanPool(1, start, { inPlaceEventsMax: 0, spareGraceMs: Infinity });
  for (const pieces of [3, ACTORS, 10 * ACTORS]) {
    const inputs = probe(true);
    const order = orderOf(inputs);
    // As if each piece held as many events as pieces do.
    const at = (i: number) => Math.round(i * (ACTORS + 1) / Math.min(pieces, ACTORS + 1));
    const cuts = Int32Array.from({ length: Math.min(pieces, ACTORS + 1) + 1 }, (_, i) => at(i));
    const here: number[] = [];
    const kind = seenHere((actor) => here.push(actor));
    const timelines = { ...order.timelines!, cuts };
    assert.deepEqual(inOrder(await pool.run(kind, { ...order, timelines })), everybody);
    assert.equal(here.length + inputs.begun[0]!, ACTORS);
  }
  pool.close();
});

Deno.test("scan pool: what a visit throws where it is asked for ends its scan alone", async () => {
  const { pool } = poolOf(1, Infinity);
  const inputs = probe(false);
  const kind = seenHere(() => {
    open(inputs);
    throw new Error("seen enough here");
  });
  await assert.rejects(pool.run(kind, orderOf(inputs)), /seen enough here/);
  assert.deepEqual(inOrder(await pool.run(PROBE, orderOf(probe(true)))), everybody);
  pool.close();
});

Deno.test("scan pool: a scan that is cancelled is visited no longer where it is asked for", async () => {
  const { pool } = poolOf(1, Infinity);
  const inputs = probe(false);
  const cancel = new AbortController();
  let visits = 0;
  const kind = seenHere(() => {
    visits++;
    cancel.abort(new Error("nobody waits"));
    open(inputs);
  });
  await assert.rejects(pool.run(kind, orderOf(inputs), cancel.signal), /nobody waits/);
  assert.equal(visits, 1);
  pool.close();
});

Deno.test("scan pool: no thread keeps what it saw of memory that was dropped since", async () => {
  const MIB = 1024 * 1024;
  const { pool } = poolOf(1);
  const memory = new SharedMemory(0);
  const scan = async () => {
    const column = new Int32Array(memory.take(32 * MIB)).fill(1);
    await pool.run(PROBE, { ...orderOf({ ...probe(true), churns: true }), words: [column] });
    for (let i = 0; i < ACTORS; i++) churn();
    memory.give(column.buffer as SharedArrayBuffer);
  };
  await scan();
  const before = Deno.memoryUsage().rss;
  let mostBytes = 0;
  for (let i = 0; i < 30; i++) {
    await scan();
    mostBytes = Math.max(mostBytes, Deno.memoryUsage().rss - before);
  }
  pool.close();
  assert.ok(mostBytes < 500 * MIB, `${Math.round(mostBytes / MIB)} MiB`);
});
