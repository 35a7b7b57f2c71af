import { projectOfQuery } from "../auth/project_of_query.ts";
import type { DocumentedRoute } from "./documented_route.ts";
import { json } from "../http/reply.ts";
import type { ProblemCode } from "../problem.ts";
import {
  ActorErased,
  ActorExport,
  type ActorServices,
  deleteActor,
  getActor,
} from "../reports/people/actors.ts";

const PROBLEMS: readonly ProblemCode[] = ["project_required", "not_found"];
const QUERY = { project: "Project id. Default: the token's only project" };

/** One person's data: shown whole, and erased. */
export function actorRoutes(services: ActorServices): DocumentedRoute[] {
  const { database } = services;
  return [
    {
      method: "GET",
      path: "/v1/actors/:id",
      access: "admin",
      handler: async (exchange) => {
        const project = await projectOfQuery(database, exchange);
        return await getActor(services, { project, params: exchange.params });
      },
      doc: {
        summary: "All that is stored of one person, by user id, anonymous id or visitor hash",
        query: QUERY,
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
        return json(await deleteActor(services, { project, params: exchange.params }));
      },
      doc: {
        summary: "Erase one person: events, sessions and rollups",
        query: QUERY,
        success: { status: 200, description: "What was erased", schema: ActorErased },
        problems: PROBLEMS,
      },
    },
  ];
}
