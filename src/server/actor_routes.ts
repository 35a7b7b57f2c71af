import { recordAudit, visitorMark } from "../audit/audit.ts";
import { recordExport } from "../audit/recorded_anyway.ts";
import { askedBy, type AuditServices } from "../auth/audited.ts";
import type { LongReplies } from "../auth/long_replies.ts";
import { projectOfQuery } from "../auth/project_of_query.ts";
import type { Sql } from "../db/sql.ts";
import type { DocumentedRoute } from "./documented_route.ts";
import type { Log } from "../http/log.ts";
import { json } from "../http/reply.ts";
import type { ProblemCode } from "../problem.ts";
import { PROJECT_QUERY } from "../query/project_query.ts";
import {
  ActorErased,
  ActorExport,
  type ActorServices,
  deleteActor,
  getActor,
} from "../reports/people/actors.ts";

const PROBLEMS: readonly ProblemCode[] = ["project_required", "not_found", "overloaded"];

/** Returns the routes that export and erase one person's data. */
export function actorRoutes(
  services: ActorServices & AuditServices & {
    readonly log: Log;
    readonly longReplies: LongReplies;
  },
): DocumentedRoute[] {
  const { database } = services;
  return [
    {
      method: "GET",
      path: "/v1/actors/:id",
      access: "admin",
      handler: async (exchange) => {
        const project = await projectOfQuery(database, exchange);
        const { params, request } = exchange;
        const reply = await getActor(services, { project, params, gone: request.signal });
        await recordExport({ sql: database, log: services.log }, request, {
          ...askedBy(services, exchange),
          what: "actor.export",
          subject: visitorMark(project.id, params.id ?? ""),
          projectId: project.projectId,
        });
        return services.longReplies.watched(exchange, reply);
      },
      doc: {
        summary: "All that is stored of one person, by user id, anonymous id or visitor hash",
        query: PROJECT_QUERY,
        success: { status: 200, description: "Sessions and events", schema: ActorExport },
        problems: PROBLEMS,
      },
    },
    {
      method: "DELETE",
      path: "/v1/actors/:id",
      access: "admin",
      handler: async (exchange) => {
        const project = await projectOfQuery(database, exchange);
        const { params } = exchange;
        const also = (inside: Sql) =>
          recordAudit(inside, {
            ...askedBy(services, exchange),
            what: "actor.erase",
            subject: visitorMark(project.id, params.id ?? ""),
            projectId: project.projectId,
          });
        return json(await deleteActor(services, { project, params, also }));
      },
      doc: {
        summary: "Erase one person: events, sessions and rollups",
        query: PROJECT_QUERY,
        success: { status: 200, description: "What was erased", schema: ActorErased },
        problems: PROBLEMS,
      },
    },
  ];
}
