import { requirePrincipal, resolveProject } from "../auth/access.ts";
import { projectOfQuery } from "../auth/project_of_query.ts";
import { requireProject } from "../auth/projects.ts";
import { getCaptureImage } from "../screenshots/queue/capture_image_endpoint.ts";
import {
  CAPTURE_JOBS_PATH,
  CaptureJobCreation,
  CaptureJobReply,
  type CaptureJobs,
} from "../screenshots/queue/capture_job_endpoints.ts";
import type { Sql } from "../db/sql.ts";
import type { DocumentedRoute } from "./documented_route.ts";
import { readJson } from "../http/json_body.ts";
import type { LiveShares } from "../shares/live_shares.ts";
import { shareOfRead } from "../shares/share_reading.ts";

export interface CaptureRouteServices {
  readonly database: Sql;
  /** The database that answers reads: a replica where one is configured. */
  readonly reads: Sql;
  readonly captureJobs: CaptureJobs;
  readonly shares: Pick<LiveShares, "find">;
}

const IMAGE_PATH = "/v1/heatmaps/captures/:id";

/** Returns the routes of pictures of pages, and of the jobs that take them. */
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
        body: CaptureJobCreation,
        success: {
          status: 202,
          description: "The queued job",
          schema: CaptureJobReply,
          also: { 200: "The job, done while `Prefer: wait` waited" },
        },
        problems: [
          "invalid_json",
          "invalid_body",
          "body_too_large",
          "unsupported_media_type",
          "project_required",
          "not_found",
        ],
      },
    },
    {
      method: "GET",
      path: `${CAPTURE_JOBS_PATH}/:id`,
      access: "jobs",
      handler: ({ params, who }) =>
        services.captureJobs.get(params.id ?? "", requirePrincipal(who)),
      doc: {
        summary: "A job that photographs pages, as it stands",
        success: { status: 200, description: "The job", schema: CaptureJobReply },
        problems: ["not_found"],
      },
    },
    {
      method: "GET",
      path: IMAGE_PATH,
      access: "aggregates",
      handler: async (exchange) => {
        const project = await projectOfQuery(services.reads, exchange);
        await shareOfRead(services.shares, exchange, IMAGE_PATH);
        return await getCaptureImage(services.reads, project, exchange);
      },
      doc: {
        summary: "The picture of a page, as JPEG or WebP; it never changes",
        query: { project: "Project id. Default: the token's only project" },
        success: {
          status: 200,
          description: "The picture",
          contentType: "image/jpeg",
          otherTypes: ["image/webp"],
          also: { 304: "The caller has it already" },
        },
        problems: ["project_required", "not_found"],
      },
    },
  ];
}
