import { ACQUISITION } from "../reports/acquisition/acquisition.ts";
import { SAVED_FUNNEL } from "../reports/funnels/funnels.ts";
import { GOALS } from "../reports/goals/goals.ts";
import { createInsights } from "../reports/insights/insights.ts";
import { PROJECTION_JOB_WAIT_MS_MAX } from "../limits.ts";
import { KPIS } from "../reports/kpis/kpis.ts";
import { PAGES } from "../reports/pages/pages.ts";
import type { Report } from "../reports/answer/report.ts";
import { countedWithin } from "../reports/answer/counted.ts";
import { getReport, type ReportServices } from "../reports/answer/report_endpoint.ts";
import { TRENDS } from "../reports/trends/trends.ts";
import { VITALS } from "../reports/vitals/vitals.ts";
import type { Sql } from "../db/sql.ts";
import { isSpanWaiting, lastWaitingOfSpan } from "../projection/waiting_span.ts";
import type { NotificationReads, NotificationReport } from "../notifications/notification_reads.ts";

const REPORTS: Readonly<Record<NotificationReport, Report>> = {
  kpis: KPIS,
  acquisition: ACQUISITION,
  pages: PAGES,
  goals: GOALS,
  // Messages contain the sentences of findings, not the addresses of their reads.
  insights: createInsights({ basePath: "" }),
  trends: TRENDS,
  vitals: VITALS,
  funnel: SAVED_FUNNEL,
};

/** Makes the reads that messages need; they are answered like all reads, under the same time limit. */
export function createNotificationReads(
  services: ReportServices & { readonly database: Sql },
  stopping: AbortSignal,
): NotificationReads {
  const { database } = services;
  return {
    async isBehind({ projectId }, span) {
      // On a busy project some events are always pending, so only those that are pending now count.
      const last = await lastWaitingOfSpan(database, projectId, span);
      if (last !== null) {
        await services.projection.catchUpWithin(projectId, PROJECTION_JOB_WAIT_MS_MAX);
      }
      if (await services.replica?.lagging([projectId], PROJECTION_JOB_WAIT_MS_MAX)) return true;
      return last !== null && await isSpanWaiting(database, projectId, span, last);
    },

    async read(project, report, params, named = {}) {
      const { path } = REPORTS[report];
      const url = new URL(`http://footfall${path}?${new URLSearchParams(params)}`);
      const request = new Request(url, { signal: stopping });
      // No caller waits, so there is time to project all events stored so far.
      await countedWithin(services, project.projectId, PROJECTION_JOB_WAIT_MS_MAX);
      const asked = { project, request, url, params: named };
      const reply = await getReport(services, REPORTS[report], asked);
      return await reply.json();
    },
  };
}
