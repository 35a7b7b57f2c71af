import { DatabaseRefuses, DatabaseUnavailable } from "../db/sql.ts";
import { resolveHost } from "../http/resolve_host.ts";
import { deleteOldDeliveries } from "./deliveries.ts";
import type { NotificationRunner, RunnerServices } from "./notification_runner.ts";
import { isAnythingDue } from "./notification_store.ts";

/** The digests, alerts and messages of one server. */
export interface Notifications {
  /** Makes, checks and sends what is due. Call it every minute; if nothing is due, it takes one statement. */
  runDue(): Promise<void>;
  /** Deletes old messages. Call it every day. */
  deleteOld(): Promise<void>;
  /** Returns the runner, also for tests that users request; its code is loaded on first use. */
  readonly runner: () => Promise<NotificationRunner>;
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal;
  /** Resolves when no run is under way. */
  idle(): Promise<void>;
  /** Resolves when no message is being sent, once no more may be sent. */
  sent(): Promise<void>;
}

/** Creates the notifications of a server. Nothing runs until it is called for. */
export function createNotifications(
  services: Omit<RunnerServices, "network" | "stopping">,
  stopping: AbortSignal,
): Notifications {
  const { sql, now } = services;
  let runner: Promise<NotificationRunner> | null = null;
  let running: Promise<void> | null = null;
  async function load(): Promise<NotificationRunner> {
    const { NotificationRunner } = await import("./notification_runner.ts");
    return new NotificationRunner({ ...services, network: { resolve: resolveHost }, stopping });
  }
  const runnerOf = () => runner ??= load();
  async function run(): Promise<void> {
    try {
      if (await isAnythingDue(sql, now())) await (await runnerOf()).run(stopping);
    } catch (error) {
      // The next minute tries again; but a database that refuses needs its operator.
      if (!(error instanceof DatabaseUnavailable) || error instanceof DatabaseRefuses) throw error;
    }
  }
  return {
    runner: runnerOf,
    stopping,
    async runDue() {
      if (stopping.aborted || running !== null) return;
      running = run().finally(() => running = null);
      await running;
    },
    deleteOld: async () => void await deleteOldDeliveries(sql, now()),
    idle: async () => await (running ?? Promise.resolve()).catch(() => {}),
    sent: async () => await (await runner)?.sent(),
  };
}
