/// <reference lib="deno.worker" />
/** The projection's own thread: what `ProjectionThread` asks, and the answers. */
import { borrowDatabase } from "../db/borrowed_database.ts";
import { failureOf, type LoanFailure } from "../db/lent_database.ts";
import type { Database } from "../db/sql.ts";
import type { Facts } from "../http/log.ts";
import { FLUSH_MS_MAX, PROJECTION_CONNECTIONS_MAX } from "../limits.ts";
import { createProjection, type Projection } from "./projection.ts";

/** What the main thread sends. */
export type ProjectionRequest =
  /** A PostgreSQL URL, or where the embedded engine is borrowed: sent first. */
  | { readonly kind: "open"; readonly database: string | MessagePort }
  /** `msMax` null: until nothing is left of it. */
  | {
    readonly kind: "catch_up";
    readonly id: number;
    readonly projectId: number;
    readonly msMax: number | null;
  }
  /** Answered after `stop`, once the last transaction under way has ended. */
  | { readonly kind: "run"; readonly id: number }
  | { readonly kind: "stop" }
  /** Answered at once, for whoever wants to know that this thread still turns. */
  | { readonly kind: "sign" }
  | { readonly kind: "close"; readonly id: number };

/** What it gets back. */
export type ProjectionReport =
  | { readonly kind: "done"; readonly id: number; readonly failure: LoanFailure | null }
  | { readonly kind: "warn"; readonly message: string; readonly facts: Facts }
  | { readonly kind: "failure"; readonly cause: string }
  | { readonly kind: "sign" }
  /** Something failed that nobody caught: the last message. */
  | { readonly kind: "ended" };

const report = (what: ProjectionReport): void => self.postMessage(what);

interface Opened {
  readonly database: Database;
  readonly projection: Projection;
}

let opening: Promise<Opened> | null = null;
const stopping = new AbortController();

/** On PostgreSQL it has connections of its own; the embedded engine has one session for everything. */
async function openDatabase(where: string | MessagePort): Promise<Database> {
  if (typeof where !== "string") return borrowDatabase(where, "embedded");
  const { openPostgres } = await import("../db/postgres.ts");
  return openPostgres(where, {
    connectionsMax: PROJECTION_CONNECTIONS_MAX,
    statementTimeoutMs: FLUSH_MS_MAX,
    applicationName: "footfall",
  });
}

async function open(where: string | MessagePort): Promise<Opened> {
  const database = await openDatabase(where);
  const projection = createProjection(database, {
    log: { warn: (message, facts = {}) => report({ kind: "warn", message, facts }) },
    observeFailure: (cause) => report({ kind: "failure", cause }),
  });
  return { database, projection };
}

async function perform(request: Exclude<ProjectionRequest, { kind: "open" | "stop" | "sign" }>) {
  const { database, projection } = await opening!;
  if (request.kind === "run") return await projection.run(stopping.signal);
  if (request.kind === "close") return await database.close();
  const { projectId, msMax } = request;
  if (msMax === null) await projection.catchUp(projectId);
  else await projection.catchUpWithin(projectId, msMax);
}

/** Deno would write it on standard error, where the log alone belongs. */
function end(event: Event): void {
  event.preventDefault();
  report({ kind: "ended" });
  self.close();
}

// Set before the first await: a message that arrives earlier would be lost.
self.onmessage = ({ data: request }: MessageEvent<ProjectionRequest>) => {
  if (request.kind === "open") {
    opening = open(request.database);
    return;
  }
  if (request.kind === "stop") return stopping.abort();
  if (request.kind === "sign") return report({ kind: "sign" });
  const { id } = request;
  perform(request).then(
    () => report({ kind: "done", id, failure: null }),
    (error) => report({ kind: "done", id, failure: failureOf(error) }),
  );
};
self.addEventListener("error", end);
self.addEventListener("unhandledrejection", end);
