import type { MoveState } from "../archive/move_state.ts";
import { deleteExpiredApiTokens } from "../auth/api_tokens/api_tokens.ts";
import { purgeAudit } from "../audit/audit_list.ts";
import { deleteOldAttempts } from "../auth/people/attempts.ts";
import { deleteOldLinks } from "../auth/people/links.ts";
import { deleteEndedSessions } from "../auth/people/sessions.ts";
import type { Captures } from "../screenshots/queue/captures.ts";
import type { Database } from "../db/sql.ts";
import { vacuumTables } from "../db/vacuum_tables.ts";
import type { Log } from "../http/log.ts";
import { DAY_MS } from "../limits.ts";
import { purgeJournal } from "../ingest/retention.ts";
import type { Salts } from "../ingest/salts.ts";
import { deleteExpiredEvents } from "../projection/retention.ts";
import type { Notifications } from "../notifications/notifications.ts";
import { CHECKS_RUN_EVERY_MS } from "../notifications/notification_limits.ts";
import { eraseExpiredEarlier } from "../upgrade/earlier_retention.ts";

export interface JobServices {
  readonly database: Database;
  readonly salts: Salts;
  readonly captures: Pick<Captures, "queueDaily" | "deleteOld">;
  readonly notifications: Pick<Notifications, "runDue" | "deleteOld">;
  readonly log: Log;
  readonly now: () => number;
  /** The move of the embedded database, during which no events are deleted; null: on PostgreSQL. */
  readonly move: Pick<MoveState, "status"> | null;
}

const isMoving = ({ move }: JobServices) => move !== null && move.status !== "none";

interface Job {
  readonly name: string;
  /** A cron expression, in UTC. */
  readonly schedule: string;
  /** Scheduled every hour, but done only at night, and within an hour of each start. */
  readonly isNightly?: true;
  readonly run: (services: JobServices) => Promise<void>;
}

/** All recurring jobs. Each may run on several servers at once. */
export const JOBS: readonly Job[] = [
  {
    // A few minutes past midnight, because requests received just before it may still need the older salt.
    // Every hour, because the table may be locked at times, such as by a backup.
    name: "rotate visitor salts",
    schedule: "5 * * * *",
    async run({ salts, log }) {
      if (await salts.rotate()) return;
      log.warn("bytes of deleted salts stay in their table's file; it is tried again in an hour");
    },
  },
  {
    name: "purge expired events",
    schedule: "30 * * * *",
    isNightly: true,
    async run(services) {
      if (isMoving(services)) return;
      const { database, log, now } = services;
      const today = new Date(now());
      // Those of an unfinished upgrade come first, so that the upgrade does not move them any more.
      const earlier = await eraseExpiredEarlier(database, today);
      const events = earlier + await deleteExpiredEvents(database, today);
      if (events > 0) log.info("purged expired events", { events });
    },
  },
  {
    name: "purge the audit",
    schedule: "35 * * * *",
    isNightly: true,
    async run({ database, log, now }) {
      const entries = await purgeAudit(database, now());
      if (entries > 0) log.info("purged audit entries", { entries });
    },
  },
  {
    name: "forget expired API tokens",
    schedule: "37 * * * *",
    isNightly: true,
    run: async ({ database, now }) => void await deleteExpiredApiTokens(database, now()),
  },
  {
    name: "delete projected journal rows",
    schedule: "20 * * * *",
    async run(services) {
      if (!isMoving(services)) await purgeJournal(services.database, new Date(services.now()));
    },
  },
  {
    // The captures read CAPTURE_SCHEDULE themselves, because they also show people its next time.
    name: "queue captures",
    schedule: "* * * * *",
    run: ({ captures }) => captures.queueDaily(),
  },
  {
    name: "forget ended sessions and links",
    schedule: "25 * * * *",
    async run({ database, now }) {
      await deleteEndedSessions(database, now());
      await deleteOldLinks(database, now());
      await deleteOldAttempts(database, now());
    },
  },
  {
    name: "tell what is due",
    schedule: "* * * * *",
    async run(services) {
      const minute = () => Math.floor(services.now() / CHECKS_RUN_EVERY_MS);
      let begun: number;
      // If a slow receiver makes a run last into the next minute, Deno.cron skips the run that is due then. So it is
      // made up for at once, because alerts are checked every minute.
      do {
        if (isMoving(services)) return;
        begun = minute();
        await services.notifications.runDue();
      } while (minute() > begun);
    },
  },
  {
    name: "forget old messages",
    schedule: "40 * * * *",
    isNightly: true,
    run: ({ notifications }) => notifications.deleteOld(),
  },
  {
    name: "forget old captures",
    schedule: "45 * * * *",
    isNightly: true,
    run: ({ captures }) => captures.deleteOld(),
  },
  {
    // After the other nightly jobs, to clear away the rows that they deleted. PostgreSQL does this by itself.
    name: "clear away dead rows",
    schedule: "55 * * * *",
    isNightly: true,
    async run(services) {
      const { database, log } = services;
      if (database.engine !== "embedded") return;
      const failures = await vacuumTables(database, () => !isMoving(services));
      for (const failure of failures) log.warn("dead rows not cleared away", { ...failure });
    },
  },
];

/** The hour, in UTC, with the fewest visitors. */
const NIGHT_HOUR = 2;

/**
 * Whether a nightly job is due in this hour: at night, and also after a day without it, as a machine may be off at
 * night or a run may fail.
 * @param doneMs when this process did it last; -Infinity: it never did
 */
export function isNightlyDue(doneMs: number, nowMs: number): boolean {
  return new Date(nowMs).getUTCHours() === NIGHT_HOUR || nowMs - doneMs > DAY_MS;
}

/**
 * Runs a job if it is due. A failure is logged.
 * @param doneMs when this process did it last
 * @returns when it did it last, after this run; -Infinity: due again, as it failed or the database is being moved
 */
export async function runJob(job: Job, services: JobServices, doneMs: number): Promise<number> {
  const nowMs = services.now();
  if (job.isNightly && !isNightlyDue(doneMs, nowMs)) return doneMs;
  try {
    await job.run(services);
    return isMoving(services) ? -Infinity : nowMs;
  } catch (error) {
    services.log.error("job failed", {
      job: job.name,
      reason: error instanceof Error ? error.message : String(error),
    });
    return -Infinity;
  }
}

/**
 * Schedules the jobs until `signal` aborts. A failed job is repeated by its next scheduled run, a nightly one
 * within an hour.
 */
export function scheduleJobs(services: JobServices, signal: AbortSignal): void {
  for (const job of JOBS) {
    let doneMs = -Infinity;
    Deno.cron(job.name, job.schedule, { signal }, async () => {
      doneMs = await runJob(job, services, doneMs);
    }).catch((error) => {
      if (!signal.aborted) services.log.error("job not scheduled", { reason: String(error) });
    });
  }
}
