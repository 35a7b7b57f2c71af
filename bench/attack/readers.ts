import { fileURLToPath } from "node:url";
import { API_KEY, pause } from "../../tests/support/server_process.ts";
import type { LoadOrder, LoadResult } from "../load_worker.ts";
import { type Attack, type Field, PROJECT } from "./ground.ts";
import type { Engine } from "./row.ts";
import { feltOf } from "./row.ts";

const READERS = 50;
/** Half of what each engine takes at most on two cores (`deno task bench:ingest`). */
const HALF_SPEED: Readonly<Record<Engine, number>> = { postgres: 16_000, embedded: 8_500 };
/** What the overview and its neighbours ask for. */
const VIEWS = [
  "kpis?compare=previous",
  "acquisition?",
  "acquisition?by=country",
  "acquisition?by=device",
  "pages?limit=10",
  "goals?",
  "trends?event=page_view",
  "live?",
];
const PAGE_PAUSE_MS = 2_000;

async function ingest(field: Field, seconds: number): Promise<LoadResult> {
  const rate = HALF_SPEED[field.engine];
  const order: LoadOrder = {
    port: field.port,
    apiKey: API_KEY,
    connections: 32,
    batchEvents: 10,
    requests: rate * seconds / 10,
    eventsPerSecond: rate,
  };
  const worker = fileURLToPath(new URL("../load_worker.ts", import.meta.url));
  const { stdout, success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", worker, JSON.stringify(order)],
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}

async function look({ url, token }: Field, until: number) {
  const attempts: [number, string | null][] = [];
  const headers = { "Authorization": `Bearer ${token}` };
  await Promise.all(Array.from({ length: READERS }, async (_, i) => {
    await pause(PAGE_PAUSE_MS * i / READERS);
    for (let at = i; performance.now() < until; at++) {
      const startedAt = performance.now();
      const code = await fetch(`${url}/v1/${VIEWS[at % VIEWS.length]}&project=${PROJECT}`, {
        headers,
        signal: AbortSignal.timeout(20_000),
      }).then(async (reply) => {
        const body = await reply.json();
        return reply.ok ? null : String(body.code);
      }, () => "no reply");
      attempts.push([performance.now() - startedAt, code]);
      await pause(PAGE_PAUSE_MS);
    }
  }));
  return feltOf(attempts);
}

/** Five of the readings, from the first to the last: whether they rise to the end. */
function fifths(levels: readonly number[]): number[] {
  return Array.from({ length: 5 }, (_, i) => levels[Math.round(i * (levels.length - 1) / 4)] ?? 0);
}

async function readBesides(field: Field): Promise<string> {
  const seconds = field.short ? 15 : 240;
  const levels: number[] = [];
  const timer = setInterval(() => levels.push(field.server.residentBytes), seconds * 50);
  const [load, felt] = await Promise.all([
    ingest(field, seconds),
    look(field, performance.now() + seconds * 1_000),
  ]);
  clearInterval(timer);
  const perSecond = Math.round(load.accepted / load.seconds);
  return `${perSecond} events/s beside, p50 ${Math.round(load.p50Ms)} ms, p99 ` +
    `${Math.round(load.p99Ms)} ms; ${felt.attempts} views, p50 ${Math.round(felt.p50Ms)} ms, p99 ` +
    `${Math.round(felt.p99Ms)} ms, ${felt.refused} refused; memory ` +
    `${fifths(levels).map((bytes) => Math.round(bytes / 2 ** 20)).join(", ")} MiB`;
}

/** 50 people look at dashboards while events come in at half of what the server takes. */
export const READERS_BESIDE: Attack = {
  name: "readers",
  engines: ["postgres", "embedded"],
  env: { TRUSTED_PROXIES: "127.0.0.1" },
  users: { writePauseMs: 200 },
  run: readBesides,
};
