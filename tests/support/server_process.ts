import assert from "node:assert/strict";
import { SignJWT } from "jose";
import {} from "../../src/config/config.ts";
import { CONFIG_VARIABLES } from "../../src/config/config_variables.ts";
import { RUN_PROGRAM } from "./program.ts";

export const API_KEY = "pk_reliability_test";
export const JWT_SECRET = "a secret for tests of 32 bytes or more";
/** Stands in the bodies that tests send, so that a body in a log can be told. */
export const BODY_MARK = "text-of-a-private-body";

const REPOSITORY = new URL("../../", import.meta.url);
/** A first start makes the embedded database: 3.3 s on two idle cores. */
const START_MS_MAX = 40_000;
const EXIT_MS_MAX = 15_000;
const SECRETS = new RegExp(`${JWT_SECRET}|${BODY_MARK}|\\b[ps]k_|eyJ|control_`);

/** One line of the server's log. */
export type LogLine = { readonly message: string } & Record<string, unknown>;

/** Rejects with what `doing` names, if `work` takes longer. */
export async function within<T>(ms: number, work: Promise<T>, doing: string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${doing} took more than ${ms} ms`)), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Tests may stop or move the clock; how long they wait goes by the real one. */
const realNow = performance.now.bind(performance);

/** Polls until `check` holds. */
export async function until(ms: number, check: () => Promise<boolean>, what: string) {
  const deadline = realNow() + ms;
  while (!await check()) {
    if (realNow() > deadline) throw new Error(`Not within ${ms} ms: ${what}`);
    await pause(50);
  }
}

export interface ServerOptions {
  /** It may open no more files and sockets than these. */
  readonly descriptorsMax?: number;
  /** A module that runs before the program. */
  readonly preload?: string;
  /** Whether what it prints is kept; else nobody reads it. */
  readonly keepsOutput?: boolean;
  /** Another program than the repository's, and where it runs. */
  readonly program?: { readonly args: readonly string[]; readonly cwd: string };
}

/** A token for every project, signed with JWT_SECRET. */
export function operatorToken(scope = "read write jobs admin"): Promise<string> {
  return new SignJWT({ projects: ["*"], scope })
    .setProtectedHeader({ alg: "HS256" }).setSubject("tests").setIssuedAt().setExpirationTime("1h")
    .sign(new TextEncoder().encode(JWT_SECRET));
}

/**
 * `footfall serve` as a process of its own. However it ends, its standard error is checked: no
 * key, token or body may stand there. Disposing kills whatever still runs.
 */
export class ServerProcess implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #lines: string[] = [];
  #output = "";
  readonly #told: Promise<void>;
  #wake = Promise.withResolvers<void>();
  #url: URL | null = null;
  #hasExited = false;
  #endExpected = false;
  readonly #exited: Promise<number>;

  /** Starts it on a free port of the loopback, with `env` and nothing else of the product's settings. */
  constructor(env: Readonly<Record<string, string>>, options: ServerOptions = {}) {
    const { descriptorsMax, preload, keepsOutput = false, program } = options;
    const unset = Object.fromEntries(CONFIG_VARIABLES.map(({ name }) => [name, ""]));
    const settings = { PORT: "0", HOST: "127.0.0.1", LOG_FORMAT: "json", JWT_SECRET };
    const preloaded = preload === undefined ? [] : ["--preload", preload];
    const own = [...RUN_PROGRAM, ...preloaded, "main.ts", "serve"];
    const { args, cwd } = program ?? { args: own, cwd: REPOSITORY };
    const limited = ["-c", `ulimit -n ${descriptorsMax}; exec "$0" "$@"`, Deno.execPath(), ...args];
    this.#child = new Deno.Command(descriptorsMax === undefined ? Deno.execPath() : "sh", {
      args: descriptorsMax === undefined ? [...args] : limited,
      cwd,
      env: { ...unset, ...settings, DEFAULT_API_KEY: API_KEY, NO_COLOR: "1", ...env },
      stdin: "null",
      stdout: keepsOutput ? "piped" : "null",
      stderr: "piped",
    }).spawn();
    const heard = keepsOutput ? this.#hear() : Promise.resolve();
    this.#told = Promise.all([this.#listen(), heard]).then(() => {});
    this.#exited = this.#child.status.then(async ({ code }) => {
      await this.#told;
      this.#hasExited = true;
      this.#wake.resolve();
      return code;
    });
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Without a slash at the end. */
  get url(): string {
    assert(this.#url !== null, "The server does not listen yet");
    return this.#url.origin;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** All that it has written to standard error. */
  get errorOutput(): string {
    return this.#lines.join("\n");
  }

  /** All that it has printed, where that is kept. */
  get output(): string {
    return this.#output;
  }

  /** Resident memory, in bytes. Linux only. */
  get residentBytes(): number {
    const status = Deno.readTextFileSync(`/proc/${this.pid}/status`);
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  }

  /** Resolves with the first log line that says `message`; rejects if the server ends before. */
  async logged(message: string, msMax = START_MS_MAX): Promise<LogLine> {
    const seek = async () => {
      for (;;) {
        const ended = this.#hasExited;
        const woken = this.#wake.promise;
        const line = this.#lines.find((text) => text.includes(`"message":"${message}"`));
        if (line !== undefined) return JSON.parse(line) as LogLine;
        if (ended) throw new Error(`The server ended before "${message}": ${this.errorOutput}`);
        await woken;
      }
    };
    return await within(msMax, seek(), `The log line "${message}" (${this.pid})`);
  }

  async listening(): Promise<void> {
    const line = await this.logged("listening");
    this.#url = new URL(String(line.url));
  }

  async ready(): Promise<void> {
    await this.listening();
    await this.logged("ready");
  }

  /** Waits for an end that is its own decision. @returns the exit code */
  async ended(): Promise<number> {
    this.#endExpected = true;
    const code = await within(EXIT_MS_MAX, this.#exited, "Ending");
    this.#assertDiscreet();
    return code;
  }

  /** Asks it to stop. @returns the exit code */
  async stop(signal: "SIGTERM" | "SIGINT" = "SIGTERM"): Promise<number> {
    this.#assertRuns();
    this.#endExpected = true;
    this.#child.kill(signal);
    const code = await within(EXIT_MS_MAX, this.#exited, "Stopping");
    this.#assertDiscreet();
    return code;
  }

  async kill(): Promise<void> {
    this.#assertRuns();
    this.#endExpected = true;
    this.#child.kill("SIGKILL");
    await within(EXIT_MS_MAX, this.#exited, "Being killed");
    this.#assertDiscreet();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#endExpected) this.#assertRuns();
    if (!this.#hasExited) await this.kill();
  }

  #assertRuns(): void {
    assert(!this.#hasExited, `The server has ended by itself: ${this.errorOutput}`);
  }

  async #hear(): Promise<void> {
    for await (const text of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      this.#output += text;
    }
  }

  async #listen(): Promise<void> {
    let rest = "";
    for await (const text of this.#child.stderr.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + text).split("\n");
      rest = parts.pop() ?? "";
      this.#lines.push(...parts);
      this.#wake.resolve();
      this.#wake = Promise.withResolvers();
    }
    if (rest !== "") this.#lines.push(rest);
  }

  #assertDiscreet(): void {
    const line = this.#lines.find((text) => SECRETS.test(text));
    assert.equal(line, undefined, "A key, token or body stands in the log");
  }
}

/** A server that is ready. */
export async function startServer(
  env: Readonly<Record<string, string>>,
  options: ServerOptions = {},
): Promise<ServerProcess> {
  const server = new ServerProcess(env, options);
  try {
    await server.ready();
    return server;
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}
