/** Scans twice with a worker that returns lists, whose buffers are transferred. The argument is the worker's name. */
import { ScanPool } from "../../src/scans/scan_pool.ts";
import { loadedSegment, segmentOfTold, told } from "../timelines/timeline_world.ts";

const [name = ""] = Deno.args;
const start = () =>
  new Worker(import.meta.resolve("./summing_worker.ts"), { type: "module", name });
const pool = new ScanPool(1, start, { inPlaceEventsMax: 0, spareGraceMs: -Infinity });
const segments = [loadedSegment(segmentOfTold([told(1, 1, 1)])!, 1)];
const actorOf = Int32Array.of(0, 1);
const kind = { name: "sums", create: () => null as never, merge: (sums: unknown) => sums };
for (let scan = 0; scan < 2; scan++) {
  await pool.run(kind, {
    ...{ visitor: kind.name, inputs: null, segments, words: [], actorOf },
    ...{ timelines: null, sessions: null, actors: [] },
  });
}
pool.close();
