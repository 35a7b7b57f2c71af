import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { RUN_PROGRAM } from "../support/program.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const START_MS_MAX = 90_000;
const POLL_MS = 50;

/**
 * The real program, in a folder of its own.
 * @param preload a module that runs before it
 */
export function footfall(
  dataDir: string,
  args: readonly string[],
  input: "piped" | "null" = "null",
  preload: string | null = null,
  env: Readonly<Record<string, string>> = {},
): Deno.ChildProcess {
  const preloaded = preload === null ? [] : ["--preload", preload];
  return new Deno.Command(Deno.execPath(), {
    args: [...RUN_PROGRAM, ...preloaded, "main.ts", ...args],
    cwd: ROOT,
    env: {
      DATA_DIR: dataDir,
      DATABASE_URL: "",
      HOST: "127.0.0.1",
      PORT: "0",
      LOG_LEVEL: "",
      CHROME_NO_SANDBOX: "1",
      BASE_PATH: "/stats",
      NO_COLOR: "1",
      DENO_NO_UPDATE_CHECK: "1",
      ...env,
    },
    stdin: input,
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly errors: string;
}

export async function ended(process: Deno.ChildProcess): Promise<Ended> {
  const { code, stdout, stderr } = await process.output();
  const decoder = new TextDecoder();
  return { code, out: decoder.decode(stdout), errors: decoder.decode(stderr) };
}

/** Runs to the end, with `input` on its standard input. */
export async function run(
  dataDir: string,
  args: readonly string[],
  input?: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  if (input === undefined) return await ended(footfall(dataDir, args, "null", null, env));
  const process = footfall(dataDir, args, "piped", null, env);
  const writer = process.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  return await ended(process);
}

export interface Control {
  readonly pid: number;
  readonly url: string;
  readonly token: string;
}

/** Resolves once the server in `dataDir` has written its control file. */
export async function serverReady(dataDir: string): Promise<Control> {
  const deadline = performance.now() + START_MS_MAX;
  while (performance.now() < deadline) {
    try {
      return JSON.parse(await Deno.readTextFile(join(dataDir, "control.json")));
    } catch {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
  throw new Error("The server did not start in time");
}
