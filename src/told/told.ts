import { DatabaseRefuses, DatabaseUnavailable } from "../db/sql.ts";
import { resolveHost } from "../http/resolve_host.ts";
import { deleteOldDeliveries } from "./deliveries.ts";
import type { RunnerServices, ToldRunner } from "./told_runner.ts";
import { isAnythingDue } from "./told_store.ts";

/** What is told by one server. */
export interface Notifications {
  /** Looks at what is due and sends it; to be called every minute. Costs one statement where nothing is. */
  runDue(): Promise<void>;
  /** Forgets messages of long ago; to be called every day. */
  deleteOld(): Promise<void>;
  /** What looks and sends, for those who ask for a test; its program is loaded when it is first needed. */
  readonly runner: () => Promise<ToldRunner>;
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal;
  /** Resolves when no run is under way. */
  idle(): Promise<void>;
  /** Resolves when no message is on its way; to be waited for where none may set out any more. */
  sent(): Promise<void>;
}

/** Nothing runs before it is asked. */
export function createNotifications(
  services: Omit<RunnerServices, "network" | "stopping">,
  stopping: AbortSignal,
): Notifications {
  const { sql, now } = services;
  let runner: Promise<ToldRunner> | null = null;
  let running: Promise<void> | null = null;
  async function load(): Promise<ToldRunner> {
    const { ToldRunner } = await import("./told_runner.ts");
    return new ToldRunner({ ...services, network: { resolve: resolveHost }, stopping });
  }
  const runnerOf = () => runner ??= load();
  async function run(): Promise<void> {
    try {
      if (await isAnythingDue(sql, now())) await (await runnerOf()).run(stopping);
    } catch (error) {
      // What is due is due in a minute, too; a database that refuses has to be seen to.
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
