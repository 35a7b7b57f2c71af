import type { MoveState } from "../archive/move_state.ts";
import { diskMessage, type DiskSpace, type DiskStatus } from "../db/disk_space.ts";
import { type Database, DatabaseRefuses, ForeignReplica, ReplicaUnavailable } from "../db/sql.ts";
import { assertWritable } from "../db/writable.ts";
import { PROMETHEUS_TYPE } from "../http/prometheus.ts";
import { json } from "../http/reply.ts";
import { RETRY_AFTER_S } from "../limits.ts";
import type { Metrics } from "./metrics.ts";
import { Problem } from "../problem.ts";
import type { Replica } from "../reports/answer/replica.ts";

export interface HealthServices {
  readonly database: Database;
  /** Null: none is configured. */
  readonly replica: Pick<Replica, "check"> | null;
  /** Whether migrations and provisioning are done, and whether the server is stopping. */
  readonly state: { readonly prepared: boolean; readonly draining: boolean };
  readonly move: Pick<MoveState, "status"> | null;
}

export interface MetricsServices {
  readonly metrics: Metrics;
  /** Null: none is configured. */
  readonly replica: Pick<Replica, "status"> | null;
  readonly mayReadMetrics: (peer: string | null, headers: Headers) => boolean;
}

interface MetricsRequest {
  readonly request: Request;
  readonly peer: string | null;
}

/** Shown to everybody, so it does not name the new database's host: only the log and moved.json do. */
const MOVED =
  "The server has moved: stop it, and start it with the DATABASE_URL that its log and " +
  "moved.json in its DATA_DIR name.";

/** Shown to everybody, so it does not say why: only the log does. */
const REPLICA_AWAY =
  "The replica for reads does not answer, or lacks the tables: reads are refused until it does, and " +
  "events are taken in. See DATABASE_READ_URL and the log.";

const REPLICA_UNKNOWN =
  "Whether the replica for reads is this database's is known once the database answers.";

interface Check {
  readonly ok: boolean;
  readonly message: string;
}

function metricsClosed(): Problem {
  return new Problem(
    "address_not_allowed",
    "Metrics are open to this machine and to TRUSTED_PROXIES. From elsewhere, send the server's " +
      "METRICS_TOKEN as `Authorization: Bearer <token>`.",
  );
}

/** `GET /healthz`: says that the process runs and answers. */
export function getHealth(): Response {
  return json({ status: "live" });
}

/** Checks the database; `writes` is set only if it answers but refuses writes. */
async function databaseChecks(
  database: Database,
): Promise<{ readonly database: Check; readonly writes?: Check }> {
  const answers = { ok: true, message: `The ${database.engine} database answers.` };
  try {
    await assertWritable(database);
    return { database: answers };
  } catch (error) {
    return error instanceof DatabaseRefuses
      ? { database: answers, writes: { ok: false, message: `${error.message}.` } }
      : { database: { ok: false, message: `The ${database.engine} database does not answer.` } };
  }
}

interface DiskCheck extends Check {
  readonly status: DiskStatus;
  readonly freeBytes: number;
  readonly totalBytes: number;
}

async function diskCheck(disk: DiskSpace): Promise<Record<string, DiskCheck>> {
  await disk.look();
  const { status, freeBytes, totalBytes } = disk.reading;
  if (!Number.isFinite(totalBytes)) return {};
  const message = diskMessage(disk.reading);
  return { disk: { ok: status !== "full", message, status, freeBytes, totalBytes } };
}

async function replicaCheck(replica: Pick<Replica, "check">): Promise<Check> {
  try {
    await replica.check();
    return { ok: true, message: "The replica for reads answers." };
  } catch (error) {
    if (error instanceof ForeignReplica) return { ok: false, message: `${error.message}.` };
    const isAway = error instanceof ReplicaUnavailable;
    return { ok: false, message: isAway ? REPLICA_AWAY : REPLICA_UNKNOWN };
  }
}

/**
 * `GET /readyz`: says whether to send traffic here, and the state of each dependency. A full disk, a database
 * that refuses writes and an unavailable replica make the server `degraded`, with status 200: requests that do
 * not need them still work, and the others get a 503.
 */
export async function getReadiness(
  { database, replica, state, move }: HealthServices,
): Promise<Response> {
  const { database: answers, ...writes } = await databaseChecks(database);
  const checks: Record<string, Check> = {
    database: answers,
    migrations: state.prepared
      ? { ok: true, message: "The schema is up to date." }
      : { ok: false, message: "The schema is not ready yet." },
    draining: state.draining
      ? { ok: false, message: "The server is stopping." }
      : { ok: true, message: "The server takes requests." },
  };
  if (move?.status === "moved") checks.moved = { ok: false, message: MOVED };
  const partial: Record<string, Check> = {
    ...writes,
    ...(replica === null ? {} : { replica: await replicaCheck(replica) }),
    ...(database.disk === undefined ? {} : await diskCheck(database.disk)),
  };
  const ready = Object.values(checks).every((check) => check.ok);
  const status = Object.values(partial).every((check) => check.ok) ? "ready" : "degraded";
  Object.assign(checks, partial);
  return ready
    ? json({ status, checks })
    : json({ status: "not_ready", checks }, 503, { "Retry-After": String(RETRY_AFTER_S) });
}

/** `GET /metrics`: the metrics in Prometheus' text format, for requests that `mayReadMetrics` admits. */
export async function getMetrics(
  { metrics, replica, mayReadMetrics }: MetricsServices,
  { request, peer }: MetricsRequest,
): Promise<Response> {
  if (!mayReadMetrics(peer, request.headers)) throw metricsClosed();
  return new Response(metrics.text(await replica?.status() ?? null), {
    headers: { "Content-Type": PROMETHEUS_TYPE, "Cache-Control": "no-store" },
  });
}
