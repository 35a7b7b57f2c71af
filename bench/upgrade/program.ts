/** The program of any commit, in a process of its own that may be killed at any moment. */
import { SignJWT } from "jose";
import { createServer } from "node:net";
import { peakMemoryBytes } from "../process_figures.ts";

const JWT_SECRET = "a secret of the upgrade trial, 32 bytes or more";
const START_MS_MAX = 600_000;
const RETRY_MS = 50;
const ANSWER_MS_MAX = 20_000;
const ENDED_LOOK_MS = 2_000;

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

/** Where the data are: the same for both programs. */
export interface Place {
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  readonly port: number;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

function environment({ databaseUrl, dataDir, port }: Place): Record<string, string> {
  return {
    PORT: String(port),
    HOST: "127.0.0.1",
    DATA_DIR: dataDir,
    ...(databaseUrl === null ? {} : { DATABASE_URL: databaseUrl }),
    TRUSTED_PROXIES: "127.0.0.1",
    READ_TIMEOUT_MS: "120000",
    JWT_SECRET,
    LOG_FORMAT: "json",
  };
}

/** A token with every scope for every project. */
export function operatorToken(): Promise<string> {
  return new SignJWT({ projects: ["*"], scope: "read write jobs admin" })
    .setProtectedHeader({ alg: "HS256" }).setSubject("trial").setIssuedAt().setExpirationTime("12h")
    .sign(new TextEncoder().encode(JWT_SECRET));
}

export function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const server = createServer().once("error", reject);
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as { port: number };
    server.close(() => resolve(port));
  });
  return promise;
}

/** Runs a command of the program in `folder` on these data, while its server runs. */
export async function runCommand(folder: string, place: Place, args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-P=serve", "--quiet", "main.ts", ...args],
    cwd: folder,
    env: environment(place),
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`${args[0]}: ${new TextDecoder().decode(stderr)}`);
}

/** A server process. */
export class Program {
  readonly #child: Deno.ChildProcess;
  readonly #reading: Promise<void>;
  readonly #ready = Promise.withResolvers<void>();
  /** Messages of warnings and errors, and how often each came. */
  readonly warnings = new Map<string, number>();
  readonly infos: string[] = [];

  constructor(folder: string, place: Place) {
    this.#child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-P=serve", "--quiet", "main.ts", "serve"],
      cwd: folder,
      env: environment(place),
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    // Whoever kills it before it is ready does not wait for that.
    this.#ready.promise.catch(() => {});
    this.#reading = this.#read();
  }

  async ready(): Promise<void> {
    const timer = setTimeout(() => this.#ready.reject(new Error("no start")), START_MS_MAX);
    await this.#ready.promise.finally(() => clearTimeout(timer));
  }

  /** The most memory that it has had; 0 where it runs no more. */
  get peakBytes(): number {
    try {
      return peakMemoryBytes(this.#child.pid);
    } catch {
      return 0;
    }
  }

  async end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    this.#child.kill(signal);
    await this.#child.status;
    await this.#reading;
  }

  /** What went wrong while it was asked, with what it said itself, and whether it has ended. */
  async blamed(error: unknown): Promise<Error> {
    const status = await Promise.race([this.#child.status, pause(ENDED_LOOK_MS)]);
    const fate = status === undefined ? "it runs on" : `it ended: ${JSON.stringify(status)}`;
    if (status === undefined) await this.end("SIGKILL");
    const said = [...this.warnings.keys()].map((text) => `\n    ${text}`).join("");
    return new Error(`${error}; ${fate}; it had said:${said}`, { cause: error });
  }

  async #read(): Promise<void> {
    let rest = "";
    for await (const text of this.#child.stderr.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#note(line);
    }
    this.#ready.reject(new Error("the server ended before it was ready"));
  }

  #note(line: string): void {
    const entry = line.startsWith("{") ? JSON.parse(line) : { message: line, level: "error" };
    if (entry.message === "ready") this.#ready.resolve();
    if (entry.level === "info") this.infos.push(entry.message);
    else {
      const told = `${entry.message}${entry.reason === undefined ? "" : `: ${entry.reason}`}`;
      this.warnings.set(told, (this.warnings.get(told) ?? 0) + 1);
    }
  }
}

/** Asks the server, and asks again while it is down or says that it cannot now. */
export async function ask(
  place: Place,
  path: string,
  init: { method?: string; headers: Record<string, string>; body?: unknown },
): Promise<Answer> {
  const { method = "GET", headers, body } = init;
  for (;;) {
    try {
      const reply = await fetch(`http://127.0.0.1:${place.port}${path}`, {
        method,
        headers: {
          ...headers,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(method === "POST" ? ANSWER_MS_MAX : START_MS_MAX),
      });
      const text = await reply.text();
      if (reply.status !== 503) {
        return { status: reply.status, body: text === "" ? null : JSON.parse(text) };
      }
    } catch (error) {
      if (error instanceof SyntaxError) throw error;
      // It was killed, or starts.
    }
    await pause(RETRY_MS);
  }
}
