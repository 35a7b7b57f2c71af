import { type App, createApp } from "../app.ts";
import type { Config } from "../config.ts";
import { SchemaMismatch, SchemaTooNew } from "../db/migrate.ts";
import { listen, type Listener } from "../http/listener.ts";
import type { Log } from "../http/log.ts";
import {
  FIRST_TOKEN_S,
  JWT_SECRET_BYTES_ADVISED,
  METRICS_TOKEN_LENGTH_ADVISED,
  PREPARE_PAUSE_MS,
  SHUTDOWN_MS_MAX,
} from "../limits.ts";
import { leaveControlFile, removeControlFile } from "./control_file.ts";
import { failedReply, logStrayFailures } from "./stray_failures.ts";

/** Resolves with the name of the first signal that asks the server to stop. */
function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      Deno.addSignalListener(signal, () => resolve(signal));
    }
  });
}

/** The address as a person would type it. */
function urlOf(config: Config, port: number): string {
  const everywhere = config.host === "0.0.0.0" || config.host === "::";
  const host = everywhere
    ? "localhost"
    : config.host.includes(":")
    ? `[${config.host}]`
    : config.host;
  return `http://${host}:${port}${config.basePath}`;
}

/**
 * What a newcomer pastes. The event's id is made here, so that pasting twice shows a duplicate; and
 * `bots=include`, because curl counts as a bot.
 */
function firstStartBanner(
  { url, project }: { readonly url: string; readonly project: string },
  key: string,
  token: string | null,
): string {
  const event = {
    eventId: crypto.randomUUID(),
    name: "page_view",
    url: "https://example.com/hello",
  };
  const days = FIRST_TOKEN_S / 86_400;
  const dashboard = token === null ? "" : `
Open the dashboard, signed in (for ${days} days; then: deno task footfall token --link):

  ${url}/#token=${token}
`;
  const read = token === null ? "" : `
Read it back:

  curl '${url}/v1/events?project=${project}&bots=include' -H 'Authorization: Bearer ${token}'
`;
  return `
Footfall is running at ${url}
${dashboard}
Your first API key (public, shown only now): ${key}

Send an event:

  curl ${url}/v1/events -H 'X-API-Key: ${key}' -H 'Content-Type: application/json' \\
    -d '${JSON.stringify({ events: [event] })}'
${read}
Fill it with a demo shop:  deno task footfall seed
`;
}

/** Brings the database up to date; while it is away, tries again until it is there or `signal` aborts. */
async function prepare(
  app: App,
  config: Config,
  log: Log,
  url: string,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      const { firstKey } = await app.prepare();
      if (app.engine === "embedded") {
        await leaveControlFile(config.dataDir, { url, token: app.controlToken });
      }
      log.info("ready", { url, engine: app.engine });
      if (firstKey !== null) {
        const place = { url, project: config.defaultProject.id };
        console.log(firstStartBanner(place, firstKey, await app.issueFirstToken()));
      }
      return;
    } catch (error) {
      if (error instanceof SchemaTooNew || error instanceof SchemaMismatch) throw error;
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

/** Rejects when the database can never be used; resolves with the signal's name otherwise. */
function running(
  app: App,
  config: Config,
  log: Log,
  url: string,
  signal: AbortSignal,
  stopped: Promise<string>,
): Promise<string> {
  return new Promise((resolve, reject) => {
    stopped.then(resolve);
    prepare(app, config, log, url, signal).then(() => app.startJobs(), reject);
  });
}

/** Stops within SHUTDOWN_MS_MAX: no new requests, those under way answered, everything flushed. */
async function stop(app: App, listener: Listener, log: Log): Promise<number> {
  const deadline = setTimeout(() => {
    log.error("stopping took too long; requests under way were given up");
    Deno.exit(1);
  }, SHUTDOWN_MS_MAX);
  Deno.unrefTimer(deadline);
  await app.stop();
  // Only now: it makes the reading of bodies that are still arriving fail.
  await listener.close();
  clearTimeout(deadline);
  log.info("stopped");
  return 0;
}

/** Listens, or says in the operator's words why that cannot be. */
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

/** `footfall serve`: runs until SIGTERM or SIGINT. @returns the exit code */
export async function serve(config: Config, log: Log): Promise<number> {
  // Before anyone can know of the process: an unheard signal would end it on the spot.
  const stopped = stopSignal();
  logStrayFailures(log);
  warnOfSettings(config, log);
  const app = await createApp(config, log);
  const preparing = new AbortController();
  const listener = listenOn(config, app, log);
  const url = urlOf(config, listener.addr.port);
  log.info("listening", { url, host: config.host });
  try {
    const signal = await running(app, config, log, url, preparing.signal, stopped);
    log.info("stopping", { signal });
    return await stop(app, listener, log);
  } finally {
    preparing.abort();
    if (app.engine === "embedded") await removeControlFile(config.dataDir);
  }
}
