import type { App } from "../server/app.ts";
import type { Provisioned } from "../auth/default_project.ts";
import type { Config } from "../config/config.ts";
import { listen, type Listener } from "../http/listener.ts";
import type { Log } from "../http/log.ts";
import {
  JWT_SECRET_BYTES_ADVISED,
  METRICS_TOKEN_LENGTH_ADVISED,
  PREPARE_PAUSE_MS,
  SHUTDOWN_MS_MAX,
} from "../limits.ts";
import { isMistake } from "../start_mistake.ts";
import { startApp } from "./app_start.ts";
import { type SignIn, startBanner } from "./banner.ts";
import type { Command } from "./command.ts";
import { removeControlFile, writeControlFile } from "./control_file.ts";
import type { Terminal } from "./terminal.ts";
import { DESCRIPTORS_ADVISED, fewDescriptors } from "./early_start.ts";
import { failedReply, logStrayFailures } from "./stray_failures.ts";

/** Waits for a signal that asks the server to stop, and returns its name. */
function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      Deno.addSignalListener(signal, () => resolve(signal));
    }
  });
}

interface ServeContext {
  readonly url: string;
  readonly terminal: Terminal;
}

/** Returns the address as a person would type it. */
function urlOf(config: Config, port: number): string {
  const everywhere = config.host === "0.0.0.0" || config.host === "::";
  const host = everywhere
    ? "localhost"
    : config.host.includes(":")
    ? `[${config.host}]`
    : config.host;
  return `http://${host}:${port}${config.basePath}`;
}

/** Returns how people sign in. While there is no owner, each start makes a new link that makes one. */
async function signInOf(app: App, url: string): Promise<SignIn> {
  if (!app.signsIn) return { kind: "elsewhere" };
  const secret = await app.makeSetUpLink();
  // The fragment stays in the browser: no server or proxy log sees the secret.
  return secret === null ? { kind: "people" } : { kind: "setup", link: `${url}/#setup=${secret}` };
}

/** Returns the key for a newcomer's first event, if this start stored it. */
function firstKeyOf({ firstKey, isGivenKeyNew }: Provisioned, { defaultProject }: Config) {
  if (firstKey !== null) return { key: firstKey, isOurs: true };
  const { apiKey } = defaultProject;
  return isGivenKeyNew && apiKey !== null ? { key: apiKey, isOurs: false } : null;
}

/**
 * Prints how to continue. The server runs even if this fails.
 * @returns whether it is known how people sign in
 */
async function greet(
  app: App,
  config: Config,
  log: Log,
  context: ServeContext,
  provisioned: Provisioned,
): Promise<boolean> {
  let signIn: SignIn | null = null;
  try {
    signIn = await signInOf(app, config.publicUrl ?? context.url);
  } catch (error) {
    log.warn("there is no set-up link", {
      reason: error instanceof Error ? error.message : String(error),
    });
  }
  const banner = startBanner({
    url: context.url,
    signIn: signIn ?? { kind: "people" },
    footfall: config.footfallHere,
    needsUrl: config.databaseUrl !== null,
    project: config.defaultProject.id,
    firstKey: firstKeyOf(provisioned, config),
  });
  try {
    context.terminal.out(banner);
  } catch (error) {
    log.warn("the banner cannot be printed; a restart that can print it makes a new link", {
      reason: error instanceof Error ? error.message : String(error),
    });
  }
  return signIn !== null;
}

/** Migrates the database; while it is unavailable, tries again every second until `signal` aborts. */
async function prepare(
  app: App,
  config: Config,
  log: Log,
  context: ServeContext,
  signal: AbortSignal,
): Promise<void> {
  const { url } = context;
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      const prepared = await app.prepare("serve");
      if (app.engine === "embedded") {
        await writeControlFile(config.dataDir, { url, token: app.controlToken });
      }
      log.info("ready", { url, engine: app.engine });
      let isWhole = await greet(app, config, log, context, prepared);
      if (prepared.left === null) return;
      const { writeLeft } = await import("./left_writes.ts");
      void writeLeft(prepared.left, log, signal, async (later) => {
        const isNeeded = firstKeyOf(later, config) !== null || !isWhole && later.left === null;
        if (isNeeded) isWhole = await greet(app, config, log, context, later);
      });
      return;
    } catch (error) {
      if (isMistake(error)) throw error;
      if (attempt === 1) {
        log.warn("the database is not ready; trying again every second", {
          reason: error instanceof Error ? error.message : String(error),
        });
      }
      await new Promise((resolve) => setTimeout(resolve, PREPARE_PAUSE_MS));
    }
  }
}

function warnOfSettings(config: Config, log: Log): void {
  const bytes = new TextEncoder().encode(config.jwt.secret ?? "").length;
  if (config.jwt.secret !== null && bytes < JWT_SECRET_BYTES_ADVISED) {
    log.warn("JWT_SECRET is short enough to be guessed; use 32 random bytes", { bytes });
  }
  const characters = config.metricsToken?.length ?? Infinity;
  if (characters < METRICS_TOKEN_LENGTH_ADVISED) {
    log.warn("METRICS_TOKEN is short enough to be guessed; use 32 random bytes", { characters });
  }
}

function warnOfDescriptors(log: Log): void {
  const filesMax = fewDescriptors();
  if (filesMax === null) return;
  log.warn(
    "the limit of open files is low: the embedded database may run out of them, which can end the process; " +
      `set the hard limit of ulimit -n to at least ${DESCRIPTORS_ADVISED}`,
    { filesMax },
  );
}

/** Waits for a stop and returns the signal's name. Rejects if the database can never be used. */
function running(
  app: App,
  config: Config,
  log: Log,
  context: ServeContext,
  signal: AbortSignal,
  stopped: Promise<string>,
): Promise<string> {
  return new Promise((resolve, reject) => {
    stopped.then(resolve);
    prepare(app, config, log, context, signal)
      .then(() => signal.aborted || app.startJobs(), reject);
  });
}

/** Stops within SHUTDOWN_MS_MAX: refuses new requests, answers those under way, and flushes everything. */
async function stop(app: App, listener: Listener, log: Log): Promise<number> {
  const deadline = setTimeout(() => {
    log.error("stopping took too long; requests under way were given up");
    Deno.exit(1);
  }, SHUTDOWN_MS_MAX);
  Deno.unrefTimer(deadline);
  await app.stop();
  // Last of all, because it breaks off bodies that are still arriving.
  await listener.close();
  clearTimeout(deadline);
  log.info("stopped");
  return 0;
}

/** Starts listening. The error that it throws tells the operator what to change. */
function listenOn(config: Config, app: App, log: Log): Listener {
  const { host: hostname, port } = config;
  try {
    return listen({
      hostname,
      port,
      log,
      answer: (request, peer) => app.fetch(request, peer),
      onError: (error) => failedReply(error, log),
    });
  } catch (cause) {
    if (cause instanceof Deno.errors.AddrInUse) {
      throw new Error(`Port ${port} on ${hostname} is in use. Set another PORT.`, { cause });
    }
    if (cause instanceof Deno.errors.PermissionDenied) {
      throw new Error(`Port ${port} needs more rights. Set a PORT above 1023.`, { cause });
    }
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`HOST ${hostname} is no address of this machine (${reason}).`, { cause });
  }
}

/** Runs until SIGTERM or SIGINT. @returns the exit code */
async function serve(config: Config, log: Log, terminal: Terminal): Promise<number> {
  // First of all, because a signal without a listener ends the process at once.
  const stopped = stopSignal();
  logStrayFailures(log);
  warnOfSettings(config, log);
  warnOfDescriptors(log);
  const app = await startApp(config, log);
  const preparing = new AbortController();
  const listener = listenOn(config, app, log);
  const url = urlOf(config, listener.addr.port);
  log.info("listening", { url, host: config.host });
  try {
    const signal = await running(app, config, log, { url, terminal }, preparing.signal, stopped)
      .finally(() => preparing.abort());
    log.info("stopping", { signal });
    return await stop(app, listener, log);
  } finally {
    if (app.engine === "embedded") await removeControlFile(config.dataDir);
  }
}

export const SERVE_COMMAND: Command = {
  name: "serve",
  summary: "Run the server until SIGTERM or SIGINT",
  usage: "footfall serve",
  wordsMax: 0,
  options: {},
  example: "PORT=9000 footfall serve",
  run: ({ config, log, print }) => serve(config, log, print.terminal),
};
