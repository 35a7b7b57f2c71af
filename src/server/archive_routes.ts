import {
  ARCHIVE_QUERY,
  type ArchiveServices,
  FIGURES_QUERY,
  FRAME_QUERY,
  FrameBytes,
  FrameRestored,
  getArchive,
  getFigures,
  postFrame,
  postRestoration,
} from "../archive/archive_endpoints.ts";
import {
  getMove,
  getMoveRows,
  MoveRows,
  type MoveServices,
  MoveShown,
  MoveWanted,
  postMove,
} from "../archive/move_endpoints.ts";
import { RestorationPlanned, RestorationWanted } from "../archive/restore_plan.ts";
import type { ProblemCode } from "../problem.ts";
import type { DocumentedRoute } from "./documented_route.ts";

const FRAME_PROBLEMS: readonly ProblemCode[] = [
  "invalid_encoding",
  "invalid_body",
  "body_timeout",
  "body_too_large",
  "unsupported_encoding",
  "not_found",
  "overloaded",
];

/** Returns the routes by which a command moves the embedded database to PostgreSQL. */
export function moveRoutes(services: MoveServices): DocumentedRoute[] {
  return [
    {
      method: "GET",
      path: "/v1/move",
      access: "people",
      handler: (exchange) => getMove(services, exchange),
      doc: {
        summary: "How far a move to PostgreSQL is (token with every scope, for every project)",
        success: { status: 200, description: "The move", schema: MoveShown },
        problems: ["conflict"],
      },
    },
    {
      method: "POST",
      path: "/v1/move",
      access: "people",
      handler: (exchange) => postMove(services, exchange),
      doc: {
        summary: "Begin, pause, give up or complete a move, for `footfall move`: each holds for " +
          "15 seconds (token with every scope, for every project)",
        body: MoveWanted,
        success: { status: 200, description: "The move", schema: MoveShown },
        problems: ["conflict"],
      },
    },
    {
      method: "GET",
      path: "/v1/move/rows",
      access: "people",
      handler: (exchange) => getMoveRows(services, exchange),
      doc: {
        summary:
          "Counts and digests of everything but events (token with every scope, for every project)",
        success: { status: 200, description: "Figures by table and project", schema: MoveRows },
        problems: [],
      },
    },
  ];
}

const FOR_ALL = "(token with every scope, for every project)";

/**
 * Returns the routes that export and restore everything, for callers who may make owners and reach every
 * project.
 */
export function archiveRoutes(services: ArchiveServices): DocumentedRoute[] {
  return [
    {
      method: "GET",
      path: "/v1/archive",
      access: "people",
      handler: (exchange) => getArchive(services, exchange),
      doc: {
        summary:
          `An archive of a project or of the whole server, for \`footfall archive\` ${FOR_ALL}`,
        query: ARCHIVE_QUERY,
        success: {
          status: 200,
          description: "Whole once its manifest has come, which is last",
          contentType: "application/vnd.footfall.archive",
        },
        problems: ["not_found", "conflict", "invalid_parameter"],
      },
    },
    {
      method: "GET",
      path: "/v1/archive/figures",
      access: "people",
      handler: (exchange) => getFigures(services, exchange),
      doc: {
        summary: `Count and digest of every stored event, by project ${FOR_ALL}`,
        query: FIGURES_QUERY,
        success: {
          status: 200,
          description: "Lines of JSON: how far it is, and in the last one the figures",
          contentType: "application/x-ndjson",
        },
        problems: ["not_found", "conflict"],
      },
    },
    {
      method: "POST",
      path: "/v1/restorations",
      access: "people",
      handler: (exchange) => postRestoration(services, exchange),
      doc: {
        summary: `Begin to restore an archive, or say what that would do ${FOR_ALL}`,
        body: RestorationWanted,
        success: { status: 200, description: "What becomes what", schema: RestorationPlanned },
        problems: ["conflict"],
      },
    },
    {
      method: "POST",
      path: "/v1/restorations/frames",
      access: "people",
      handler: (exchange) => postFrame(services, exchange),
      doc: {
        summary:
          `Store one frame of an archive that is being restored; again, it changes nothing ${FOR_ALL}`,
        query: FRAME_QUERY,
        requiredQuery: ["archive", "kind"],
        body: FrameBytes,
        bodyTypes: ["application/octet-stream"],
        success: {
          status: 200,
          description: "What was stored of the frame, and what was not",
          schema: FrameRestored,
        },
        problems: FRAME_PROBLEMS,
      },
    },
  ];
}
