import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { parseJson } from "../../src/json_text.ts";
import { type Json, PUBLIC_PEER, TestApp, type TestProject } from "../support/app.ts";
import { FaultyProxy } from "../support/faulty_proxy.ts";
import { until } from "../support/server_process.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
/** Clients wait longer after each failure, and machines may be slow. */
const DELIVERY_MS_MAX = 240_000;

/** A server, a project, and what stands between it and a client. */
export interface Delivery {
  readonly app: TestApp;
  readonly project: TestProject;
  readonly proxy: FaultyProxy;
}

/** A server behind a proxy that breaks connections and answers 503 now and then. */
export async function withFaultyServer(work: (delivery: Delivery) => Promise<void>): Promise<void> {
  const app = await new TestApp({}).start();
  try {
    await using proxy = await FaultyProxy.start((request) => app.app.fetch(request, PUBLIC_PEER));
    await work({ app, project: await app.project(), proxy });
  } finally {
    await app.stop();
  }
}

/** Runs a program of the tests in a process of its own; its last line of output is its report. */
export async function runClient(program: URL, args: readonly string[]): Promise<Json> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--frozen", fileURLToPath(program), ...args],
    cwd: REPOSITORY,
    env: { NO_COLOR: "1" },
    signal: AbortSignal.timeout(DELIVERY_MS_MAX),
  }).output();
  const decoder = new TextDecoder();
  const said = decoder.decode(stdout);
  assert.equal(code, 0, said + decoder.decode(stderr));
  return parseJson(said.trimEnd().split("\n").at(-1) ?? "") as Json;
}

// deno-lint-ignore no-explicit-any -- read as a client of the API would
export type Stored = any;

/** Every stored event of the project, bots included. */
export async function storedEvents({ app, project }: Delivery): Promise<Stored[]> {
  const year = new Date().getUTCFullYear();
  const range = { from: `${year - 2}-01-01`, to: `${year + 1}-12-31`, bots: "include" };
  const { status, body } = await app.read(project, range, { Accept: "application/x-ndjson" });
  assert.equal(status, 200, JSON.stringify(body));
  return String(body).split("\n").filter(Boolean).map((line) => JSON.parse(line));
}

/** Waits until so many events that `counts` are stored. @returns all that is stored by then */
export async function arrived(
  delivery: Delivery,
  count: number,
  counts: (event: Stored) => boolean = () => true,
): Promise<Stored[]> {
  let events: Stored[] = [];
  const are = () => events.filter(counts).length;
  const look = async () => {
    events = await storedEvents(delivery);
    return are() >= count;
  };
  await until(DELIVERY_MS_MAX, look, `${count} events`).catch((error) => {
    throw new Error(`${error.message}; there are ${are()}`);
  });
  return events;
}

/** Every fault was met, and what the server itself answered was 200. */
export function assertFaulty({ proxy }: Delivery): void {
  const { refused, cut, lost } = proxy.counts;
  assert.ok(refused > 0 && cut > 0 && lost > 0, JSON.stringify(proxy.counts));
  assert.deepEqual([...proxy.statuses.keys()], [200]);
}
