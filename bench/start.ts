/**
 * `deno task bench:start [--base FOLDER] [--rounds N] [--json]`
 *
 * What a start on the embedded database costs: from the process's begin to `ready`, the very first
 * time (no data folder yet; what Deno keeps of the program is there) and every later time, with what
 * is resident a little later, and the most that was. With `--base`, another checkout is measured
 * beside this one, in alternating rounds; medians are printed.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import {
  machineLine,
  peakMemoryBytes,
  processCpuSeconds,
  residentMemoryBytes,
} from "./process_figures.ts";
import { median } from "./median.ts";
import { startServer } from "./server_process.ts";

const repository = fileURLToPath(new URL("..", import.meta.url));
/** By then the jobs that begin with the start have done their first round. */
const SETTLE_MS = 2_000;

interface Start {
  readonly readyMs: number;
  /** Of all threads, until then: it hardly depends on what else the machine does. */
  readonly processorMs: number;
  readonly residentMb: number;
  readonly peakMb: number;
}

async function measure(folder: string, dataDir: string): Promise<Start> {
  const begin = performance.now();
  const server = await startServer(folder, null, dataDir);
  const readyMs = performance.now() - begin;
  const processorMs = processCpuSeconds(server.pid) * 1_000;
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const residentMb = residentMemoryBytes(server.pid) / 1e6;
  const peakMb = peakMemoryBytes(server.pid) / 1e6;
  await server.stop();
  return { readyMs, processorMs, residentMb, peakMb };
}

/** One very first start, and one after it. */
async function round(folder: string): Promise<[Start, Start]> {
  const dataDir = await Deno.makeTempDir({ prefix: "footfall-start-" });
  try {
    const first = await measure(folder, join(dataDir, "data"));
    return [first, await measure(folder, join(dataDir, "data"))];
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
}

const { values } = parseArgs({
  options: {
    base: { type: "string" },
    rounds: { type: "string", default: "5" },
    json: { type: "boolean", default: false },
  },
});
const checkouts = [...values.base === undefined ? [] : [values.base], repository];
const starts = checkouts.map(() => [[], []] as [Start[], Start[]]);
// The first round of each, which is not counted, leaves the program compiled in Deno's cache.
for (let nth = -1; nth < Number(values.rounds); nth++) {
  for (const [at, folder] of checkouts.entries()) {
    const measured = await round(folder);
    if (nth >= 0) measured.forEach((start, i) => starts[at]![i]!.push(start));
  }
}
const figures = checkouts.flatMap((checkout, at) =>
  ["very first", "later"].map((start, i) => {
    const all = starts[at]![i]!;
    return {
      checkout,
      start,
      readyMs: Math.round(median(all.map(({ readyMs }) => readyMs))),
      processorMs: Math.round(median(all.map(({ processorMs }) => processorMs))),
      residentMb: Math.round(median(all.map(({ residentMb }) => residentMb))),
      peakMb: Math.round(median(all.map(({ peakMb }) => peakMb))),
    };
  })
);
if (values.json) console.log(JSON.stringify(figures));
else {
  console.log(`${machineLine("embedded")}\n`);
  console.log("| checkout | start | to ready, ms | processor, ms | resident, MB | peak, MB |");
  console.log("|---|---|---|---|---|---|");
  for (const { checkout, start, readyMs, processorMs, residentMb, peakMb } of figures) {
    const cells = [checkout, start, readyMs, processorMs, residentMb, peakMb];
    console.log(`| ${cells.join(" | ")} |`);
  }
}
