import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { mainThreadCpuSeconds, processCpuSeconds, treeCpuSeconds } from "./process_figures.ts";
import type { LoadOrder, LoadResult } from "./load_worker.ts";

/** A Footfall server in a process of its own, started as operators start it. */
export interface ServerProcess {
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

export const API_KEY = "pk_benchmark_key";
const START_MS_MAX = 60_000;

interface StartTask {
  readonly flags: string[];
  /** The file that is run. */
  readonly entry: string;
  readonly variables: Record<string, string>;
}

/** The checkouts whose bundles are known to be current. */
const bundled = new Set<string>();

/** Returns how a checkout's own task `start` runs the server; builds what the task builds before, once. */
async function startOf(folder: string): Promise<StartTask> {
  const { tasks: { start } } = JSON.parse(await Deno.readTextFile(join(folder, "deno.json")));
  const command: string = start.command ?? start;
  if (!bundled.has(folder)) {
    const task = { args: ["task", "--quiet", "bundles"], cwd: folder };
    const { success, stderr } = await new Deno.Command(Deno.execPath(), task).output();
    if (!success) throw new Error(`${folder}: ${new TextDecoder().decode(stderr)}`);
    bundled.add(folder);
  }
  const [assigned] = command.match(/^(?:\w+=\S+ )*/)!;
  return {
    flags: command.match(/--(?:v8-flags=|unstable-)\S+/g) ?? [],
    entry: /(\S+) serve$/.exec(command)![1]!,
    variables: Object.fromEntries(
      [...assigned.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name!, value!]),
    ),
  };
}

/**
 * Runs the server of the checkout in `folder`, on a free port; resolves once it is ready.
 * `databaseUrl` null: on the embedded database in `dataDir`.
 */
export async function startServer(
  folder: string,
  databaseUrl: string | null,
  dataDir: string,
): Promise<ServerProcess> {
  const { flags, entry, variables } = await startOf(folder);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-P=serve", ...flags, "--quiet", entry, "serve"],
    cwd: folder,
    env: {
      ...variables,
      PORT: "0",
      HOST: "127.0.0.1",
      DATA_DIR: dataDir,
      ...(databaseUrl === null ? {} : { DATABASE_URL: databaseUrl }),
      TRUSTED_PROXIES: "127.0.0.1",
      DEFAULT_API_KEY: API_KEY,
      LOG_FORMAT: "json",
      LOG_LEVEL: "info",
    },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const ready = Promise.withResolvers<number>();
  const reading = readLog(child.stderr, ready);
  const timer = setTimeout(
    () => ready.reject(new Error("the server does not start")),
    START_MS_MAX,
  );
  try {
    const port = await ready.promise;
    return {
      pid: child.pid,
      port,
      async stop() {
        child.kill("SIGTERM");
        await child.status;
        await reading;
      },
    };
  } catch (error) {
    child.kill("SIGKILL");
    await child.status;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Passes warnings on; the line "ready" names the port. */
async function readLog(
  stderr: ReadableStream<Uint8Array>,
  ready: PromiseWithResolvers<number>,
): Promise<void> {
  let rest = "";
  for await (
    const text of stderr.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
  ) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const entry = line.startsWith("{") ? JSON.parse(line) : { message: line, level: "error" };
      if (entry.message === "ready") ready.resolve(Number(new URL(entry.url).port));
      if (entry.level !== "info") console.error(`  server: ${line}`);
    }
  }
  ready.reject(new Error("the server ended before it was ready"));
}

/** What one run of the load cost. Processor seconds are those during the run. */
export interface MeasuredLoad extends LoadResult {
  readonly eventsPerSecond: number;
  readonly serverCpuSeconds: number;
  /** Of them, those of its main thread: what one server can take in. */
  readonly answeringCpuSeconds: number;
  readonly databaseCpuSeconds: number;
}

/** Sends the load from a process of its own. `databasePid`: the postmaster, null for the embedded. */
export async function measureLoad(
  server: ServerProcess,
  databasePid: number | null,
  order: Omit<LoadOrder, "port" | "apiKey">,
): Promise<MeasuredLoad> {
  const cpu = () =>
    [
      processCpuSeconds(server.pid),
      mainThreadCpuSeconds(server.pid),
      databasePid === null ? 0 : treeCpuSeconds(databasePid),
    ] as const;
  const whole: LoadOrder = { ...order, port: server.port, apiKey: API_KEY };
  const [serverBefore, answeringBefore, databaseBefore] = cpu();
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", fileURLToPath(new URL("./load_worker.ts", import.meta.url))]
      .concat(JSON.stringify(whole)),
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).output();
  const [serverAfter, answeringAfter, databaseAfter] = cpu();
  if (!success) throw new Error("the load failed");
  const result = JSON.parse(new TextDecoder().decode(stdout)) as LoadResult;
  return {
    ...result,
    eventsPerSecond: result.accepted / result.seconds,
    serverCpuSeconds: serverAfter - serverBefore,
    answeringCpuSeconds: answeringAfter - answeringBefore,
    databaseCpuSeconds: databaseAfter - databaseBefore,
  };
}
