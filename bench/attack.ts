/**
 * `deno task attack [--only=NAME,NAME] [--engine=postgres|embedded] [--short] [--json]`
 *
 * Attacks a real server and prints, for each attack, what legitimate users notice: how long their
 * batches and reads take before and during it, what share is refused, the server's peak memory, how
 * soon all is well again, and whether an acknowledged event was lost. Linux; with a PostgreSQL
 * server installed; as root for full disks and 20,000 connections, which are left out otherwise.
 */
import { parseArgs } from "node:util";
import { BODIES_WITH_KEY, BODIES_WITHOUT_KEY } from "./attack/bodies.ts";
import { CLOCK } from "./attack/clock.ts";
import { CONNECTIONS_EXHAUSTED } from "./attack/connections_exhausted.ts";
import { FILTERED_READS } from "./attack/filtered_reads.ts";
import { FULL_DISK } from "./attack/full_disk.ts";
import { abandon, type Attack, stage } from "./attack/ground.ts";
import { COSTLIEST_BODIES, MADE_UP_KEYS } from "./attack/hostile_clients.ts";
import { IDENTITY_STORM } from "./attack/identity_storm.ts";
import { KILL_LOOP } from "./attack/kill_loop.ts";
import { LIVE_SEATS } from "./attack/live_seats.ts";
import { READERS_BESIDE } from "./attack/readers.ts";
import { IMPORT } from "./attack/imports.ts";
import { headText, type Row, rowText } from "./attack/row.ts";
import { DESCRIPTORS, SILENT_CONNECTIONS } from "./attack/silent_connections.ts";
import { loadLastMinute, machineLine } from "./process_figures.ts";

const ATTACKS: readonly Attack[] = [
  BODIES_WITHOUT_KEY,
  BODIES_WITH_KEY,
  COSTLIEST_BODIES,
  MADE_UP_KEYS,
  IDENTITY_STORM,
  FILTERED_READS,
  SILENT_CONNECTIONS,
  DESCRIPTORS,
  FULL_DISK,
  LIVE_SEATS,
  CLOCK,
  CONNECTIONS_EXHAUSTED,
  READERS_BESIDE,
  KILL_LOOP,
  IMPORT,
];

const DESCRIPTORS_OF_ATTACKERS = 65_536;

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    engine: { type: "string" },
    short: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});

function chosen(): readonly Attack[] {
  if (options.only === undefined) return ATTACKS;
  return options.only.split(",").map((name) => {
    const attack = ATTACKS.find((candidate) => candidate.name === name);
    if (attack !== undefined) return attack;
    console.error(
      `There is no attack ${name}. There are ${ATTACKS.map((a) => a.name).join(", ")}.`,
    );
    Deno.exit(2);
  });
}

/** The attackers need more descriptors than a process gets as a rule. */
async function raiseDescriptors(): Promise<void> {
  if (Deno.uid() !== 0) return;
  const args = ["--pid", String(Deno.pid), `--nofile=${DESCRIPTORS_OF_ATTACKERS}`];
  await new Deno.Command("prlimit", { args }).output();
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.addSignalListener(signal, () => abandon().finally(() => Deno.exit(1)));
}
await raiseDescriptors();
const rows: Row[] = [];
const before = loadLastMinute();
for (const attack of chosen()) {
  for (const engine of attack.engines) {
    if (options.engine !== undefined && options.engine !== engine) continue;
    if (attack.diskMebibytes !== undefined && Deno.uid() !== 0) {
      console.error(`  ${attack.name} needs root for a file system of its own: left out`);
      continue;
    }
    const startedAt = performance.now();
    try {
      const row = await stage(attack, engine, options.short);
      rows.push(row);
      console.error(rowText(row));
    } catch (error) {
      console.error(`  ${attack.name} [${engine}] did not come to its end: ${error}`);
      Deno.exitCode = 1;
    }
    console.error(`  ${Math.round((performance.now() - startedAt) / 1000)} s`);
  }
}
if (options.json) console.log(JSON.stringify(rows, null, 2));
else {
  console.log(`${machineLine("15")}; load ${before.toFixed(1)} → ${loadLastMinute().toFixed(1)}\n`);
  console.log([headText(), ...rows.map(rowText)].join("\n"));
}
Deno.exit();
