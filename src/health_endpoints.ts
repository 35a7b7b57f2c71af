import type { Database } from "./db/sql.ts";
import { PROMETHEUS_TYPE } from "./http/prometheus.ts";
import { json } from "./http/reply.ts";
import { RETRY_AFTER_S } from "./limits.ts";
import type { Metrics } from "./metrics.ts";

export interface HealthServices {
  readonly database: Database;
  readonly metrics: Metrics;
  /** Whether migrations and provisioning are done, and whether the server is stopping. */
  readonly state: { readonly prepared: boolean; readonly draining: boolean };
}

interface Check {
  readonly ok: boolean;
  readonly message: string;
}

/** `GET /healthz`: the process lives and answers. */
export function getHealth(): Response {
  return json({ status: "live" });
}

async function databaseCheck(database: Database): Promise<Check> {
  try {
    await database.ping();
    return { ok: true, message: `The ${database.engine} database answers.` };
  } catch {
    return { ok: false, message: `The ${database.engine} database does not answer.` };
  }
}

/** `GET /readyz`: whether to send traffic here, each dependency by name. */
export async function getReadiness({ database, state }: HealthServices): Promise<Response> {
  const checks: Record<string, Check> = {
    database: await databaseCheck(database),
    migrations: state.prepared
      ? { ok: true, message: "The schema is up to date." }
      : { ok: false, message: "The schema is not ready yet." },
    draining: state.draining
      ? { ok: false, message: "The server is stopping." }
      : { ok: true, message: "The server takes requests." },
  };
  const ready = Object.values(checks).every((check) => check.ok);
  return ready
    ? json({ status: "ready", checks })
    : json({ status: "not_ready", checks }, 503, { "Retry-After": String(RETRY_AFTER_S) });
}

/** `GET /metrics`: Prometheus' text format. */
export function getMetrics({ metrics }: HealthServices): Response {
  return new Response(metrics.text(), {
    headers: { "Content-Type": PROMETHEUS_TYPE, "Cache-Control": "no-store" },
  });
}
