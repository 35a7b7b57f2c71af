import { type ApiExchange, requirePrincipal, resolveProject } from "../auth/access.ts";
import { projectOfQuery } from "../auth/project_of_query.ts";
import { type Project, requireProject } from "../auth/projects.ts";
import { PROJECT_QUERY } from "../query/project_query.ts";
import type { ReportServices } from "../reports/answer/report_endpoint.ts";
import { isPictureShown } from "../reports/heatmaps/shared_picture.ts";
import {
  getCaptureImage,
  isCaptureId,
  noSuchPicture,
} from "../screenshots/queue/capture_image_endpoint.ts";
import {
  CAPTURE_JOBS_PATH,
  CaptureJobCreation,
  CaptureJobReply,
  type CaptureJobs,
} from "../screenshots/queue/capture_job_endpoints.ts";
import type { Sql } from "../db/sql.ts";
import { type DocumentedRoute, KNOWN } from "./documented_route.ts";
import { readJson } from "../http/json_body.ts";
import type { LiveShares } from "../shares/live_shares.ts";
import { shareOfRead } from "../shares/share_reading.ts";
import type { Share } from "../shares/shares.ts";

export interface CaptureRouteServices extends ReportServices {
  readonly database: Sql;
  readonly captureJobs: CaptureJobs;
  readonly shares: Pick<LiveShares, "find">;
}

const IMAGE_PATH = "/v1/heatmaps/captures/:id";

/** Throws `not_found` unless the share shows the page of the capture. */
async function assertShown(
  services: CaptureRouteServices,
  project: Project,
  { filters, minimumVisitors }: Share,
  { params, request }: ApiExchange,
): Promise<void> {
  const limits = { filters, visitorsMin: minimumVisitors };
  const id = params["id"] ?? "";
  const isShown = isCaptureId(id) &&
    await isPictureShown(services, project, limits, id, request.signal);
  if (!isShown) throw noSuchPicture();
}

/** Returns the routes of captures, and of the jobs that take them. */
export function captureRoutes(services: CaptureRouteServices): DocumentedRoute[] {
  return [
    {
      method: "POST",
      path: CAPTURE_JOBS_PATH,
      access: "jobs",
      handler: async (exchange) => {
        const body = await readJson(exchange.request, CaptureJobCreation);
        const id = resolveProject(requirePrincipal(exchange.who), body.project ?? null);
        const project = await requireProject(services.database, id);
        return await services.captureJobs.post(project, body, exchange);
      },
      doc: {
        summary: "Photograph pages now; 200 once done with Prefer: wait=N (up to 120 s)",
        headers: { Prefer: "`wait=N`: the reply waits up to N seconds (at most 120) for the job" },
        body: CaptureJobCreation,
        success: {
          status: 202,
          description: "The queued job",
          schema: CaptureJobReply,
          hasLocation: true,
          also: { 200: "The job, done while `Prefer: wait` waited" },
        },
        problems: ["project_required", "not_found"],
      },
    },
    {
      method: "GET",
      path: `${CAPTURE_JOBS_PATH}/:id`,
      access: "jobs",
      handler: ({ params, who }) =>
        services.captureJobs.get(params.id ?? "", requirePrincipal(who)),
      doc: {
        summary: "The current state of a job that photographs pages",
        success: { status: 200, description: "The job", schema: CaptureJobReply },
        problems: ["not_found"],
      },
    },
    {
      method: "GET",
      path: IMAGE_PATH,
      access: "aggregates",
      handler: async (exchange) => {
        const project = await projectOfQuery(services.database, exchange);
        const share = await shareOfRead(services.shares, exchange, IMAGE_PATH);
        await services.replica?.assertOurs();
        if (share !== null) await assertShown(services, project, share, exchange);
        return await getCaptureImage(services.reads, project, exchange);
      },
      doc: {
        summary: "The capture of a page, as JPEG or WebP; it never changes",
        query: PROJECT_QUERY,
        success: {
          status: 200,
          description: "The capture",
          contentType: "image/jpeg",
          otherTypes: ["image/webp"],
          also: KNOWN,
        },
        problems: ["project_required", "not_found", "read_timeout", "damaged_events", "overloaded"],
      },
    },
  ];
}
