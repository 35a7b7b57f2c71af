/// <reference lib="deno.worker" />
/** The worker of `ProjectionThread`, and the messages between the two. */
import { borrowDatabase } from "../db/borrowed_database.ts";
import { failureOf, type LoanFailure } from "../db/lent_database.ts";
import type { Database } from "../db/sql.ts";
import type { Facts } from "../http/log.ts";
import { FLUSH_MS_MAX, PROJECTION_CONNECTIONS_MAX } from "../limits.ts";
import { createProjection, type Projection } from "./projection.ts";

export type ProjectionRequest =
  /** Sent first, with a PostgreSQL URL, or the port that the embedded engine is borrowed through. */
  | { readonly kind: "open"; readonly database: string | MessagePort }
  /** `msMax` null: without a limit. */
  | {
    readonly kind: "catch_up";
    readonly id: number;
    readonly projectId: number;
    readonly msMax: number | null;
  }
  /** Answered after `stop`, once the last transaction under way has ended. */
  | { readonly kind: "run"; readonly id: number }
  | { readonly kind: "stop" }
  /** Answered at once, to show that this thread is not stuck. */
  | { readonly kind: "sign" }
  | { readonly kind: "close"; readonly id: number };

export type ProjectionReport =
  | { readonly kind: "done"; readonly id: number; readonly failure: LoanFailure | null }
  | { readonly kind: "warn"; readonly message: string; readonly facts: Facts }
  | { readonly kind: "failure"; readonly cause: string }
  | { readonly kind: "sign" }
  /** The last message, after an uncaught error. */
  | { readonly kind: "ended" };

const report = (message: ProjectionReport): void => self.postMessage(message);

interface Opened {
  readonly database: Database;
  readonly projection: Projection;
}

let opening: Promise<Opened> | null = null;
const stopping = new AbortController();

/** Opens connections of its own to PostgreSQL; the embedded engine has only one session, which is borrowed. */
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

/** Keeps Deno from writing the error to standard error, where only the log belongs. */
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
