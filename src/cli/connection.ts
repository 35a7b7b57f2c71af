import type { App } from "../server/app.ts";
import type { Config } from "../config/config.ts";
import { FolderInUse } from "../db/folder_lock.ts";
import { directClient } from "../http/direct_client.ts";
import type { Log } from "../http/log.ts";
import type { ProblemPart } from "../problem.ts";
import { startApp } from "./app_start.ts";
import { type Call, UsageMistake } from "./command.ts";
import { type Control, readControlFile } from "./control_file.ts";

/**
 * The HTTP API as commands use it: that of an app in this process, or of the running server that has the
 * embedded database open. Requests carry a token that may do everything.
 */
export interface Connection {
  /** Sends a request. `path` starts with a slash and does not include the base path. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /**
   * Sends a request in the name of a visitor at this address (null: unknown). A server accepts such an address
   * only from callers that may do everything.
   */
  fetchAs(address: string | null, path: string, init: RequestInit): Promise<Response>;
  /** The address at which people reach the server, without a slash at the end. */
  readonly url: string;
  close(): Promise<void>;
}

/** No server answers. The message says what to do. */
export class ServerUnreachable extends Error {
  override readonly name = "ServerUnreachable";
}

/** The API refused a request. The error contains the problem of the reply. */
export class RequestRefused extends Error {
  override readonly name = "RequestRefused";
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly errors: readonly ProblemPart[],
  ) {
    super(detail);
  }
}

/** How long to wait for the folder: another command may lock it briefly, and a server takes seconds to start. */
const FOLDER_WAIT_MS_MAX = 10_000;
const FOLDER_PAUSE_MS = 200;
const PROBE_MS_MAX = 5_000;
/** The word of RFC 7239 for an unknown address. */
const UNKNOWN_ADDRESS = "unknown";

/** Called with an app that was made in this process. */
export type Opened = (app: App) => void;

type Send = (path: string, init: RequestInit, headers: Headers) => Promise<Response>;

function connection(
  url: string,
  token: string,
  send: Send,
  close: () => Promise<void>,
): Connection {
  const authorized = (init: RequestInit): Headers => {
    const headers = new Headers(init.headers);
    headers.set("Authorization", `Bearer ${token}`);
    return headers;
  };
  return {
    url,
    fetch: (path, init = {}) => send(path, init, authorized(init)),
    fetchAs: (address, path, init) => {
      const headers = authorized(init);
      headers.set("X-Footfall-Peer", address ?? UNKNOWN_ADDRESS);
      return send(path, init, headers);
    },
    close,
  };
}

async function connectHere(config: Config, log: Log, opened: Opened): Promise<Connection> {
  const app: App = await startApp(config, log);
  try {
    await app.prepare("command");
    opened(app);
  } catch (error) {
    await app.stop();
    throw error;
  }
  const url = `http://localhost:${config.port}${config.basePath}`;
  const send: Send = (path, init, headers) =>
    app.fetch(new Request(url + path, { ...init, headers }), null);
  return connection(url, app.controlToken, send, () => app.stop());
}

/** Connects to the running server; null if the server that left the control file no longer answers. */
async function connectThere({ url, token }: Control): Promise<Connection | null> {
  const client = directClient(url);
  const send: Send = async (path, init, headers) => {
    try {
      return await fetch(url + path, { ...init, headers, redirect: "error", client });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw new ServerUnreachable(`The server at ${url} does not answer. Is it still running?`);
    }
  };
  const there = connection(url, token, send, () => Promise.resolve(client.close()));
  try {
    const reply = await there.fetch("/v1/session", { signal: AbortSignal.timeout(PROBE_MS_MAX) });
    await reply.body?.cancel();
    // Only the server that issued the token accepts it.
    if (reply.ok) return there;
  } catch {
    // The server has ended.
  }
  await there.close();
  return null;
}

/**
 * Connects to the API, with a database that is migrated.
 *
 * @throws DatabaseUnavailable, SchemaTooNew, SchemaMismatch; ServerUnreachable if another process has the
 * embedded database open and does not answer.
 */
export async function connect(
  config: Config,
  log: Log,
  opened: Opened = () => {},
): Promise<Connection> {
  const deadline = performance.now() + FOLDER_WAIT_MS_MAX;
  while (true) {
    try {
      return await connectHere(config, log, opened);
    } catch (error) {
      if (!(error instanceof FolderInUse)) throw error;
      const control = await readControlFile(config.dataDir);
      const there = control === null ? null : await connectThere(control);
      if (there !== null) return there;
      if (performance.now() > deadline) {
        throw new ServerUnreachable(
          `${error.message.split(". ")[0]}, and that process does not answer` +
            `${control === null ? "" : ` at ${control.url}`}. If it is starting, try again; ` +
            `if it hangs, stop it first.`,
        );
      }
    }
    await new Promise((resolve) => setTimeout(resolve, FOLDER_PAUSE_MS));
  }
}

/** Connects, runs `work`, and closes the connection, even if `work` fails. */
export async function withConnection<T>(
  { config, log }: Pick<Call, "config" | "log">,
  work: (connection: Connection) => Promise<T>,
  opened?: Opened,
): Promise<T> {
  const open = await connect(config, log, opened);
  try {
    return await work(open);
  } finally {
    await open.close();
  }
}

/** Returns the problem of a reply as an error. */
export async function refusalOf(reply: Response): Promise<RequestRefused> {
  const problem = await reply.json().catch(() => ({}));
  return new RequestRefused(
    reply.status,
    typeof problem.code === "string" ? problem.code : `http_${reply.status}`,
    typeof problem.detail === "string" ? problem.detail : `The server answered ${reply.status}.`,
    Array.isArray(problem.errors) ? problem.errors : [],
  );
}

/** Sends a JSON request and returns the JSON of the reply, null for a 204. Throws RequestRefused. */
export async function callApi<T>(
  connection: Connection,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const reply = await connection.fetch(path, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
  });
  if (!reply.ok) throw await refusalOf(reply);
  return (reply.status === 204 ? null : await reply.json()) as T;
}

export interface ShownProject {
  readonly id: string;
  readonly name: string;
  readonly siteUrl: string | null;
  readonly timezone: string;
  readonly allowedOrigins: readonly string[];
  readonly ipStorage: string | null;
  readonly retentionDays: number | null;
}

export async function listProjects(connection: Connection): Promise<readonly ShownProject[]> {
  return (await callApi<{ projects: ShownProject[] }>(connection, "GET", "/v1/projects")).projects;
}

/** Returns the project that `--project` names, else the only one, else the default one. */
export async function chosenProject(connection: Connection, call: Call): Promise<string> {
  const named = call.options.text("project");
  if (named !== null) return named;
  const projects = await listProjects(connection);
  const chosen = projects.length === 1
    ? projects[0]
    : projects.find((project) => project.id === call.config.defaultProject.id);
  if (chosen !== undefined) return chosen.id;
  throw new UsageMistake(
    `Say which project is meant: --project ${projects.map((project) => project.id).join(", ")}.`,
  );
}
