import type { DocumentedRoute } from "./documented_route.ts";
import {
  deleteImportedHistory,
  getImportedHistory,
  ImportedDaysRemoved,
  ImportedHistoryShown,
  type ImportedServices,
  postImportedHistory,
} from "../imported/imported_endpoints.ts";
import { ImportedDaysStored } from "../imported/imported_store.ts";
import { ImportedDays } from "../imported/imported_sums.ts";

const PATH = "/v1/projects/:id/imported-history";

/** Returns the routes that list, add and delete daily sums of other products. */
export function importedRoutes(services: ImportedServices): DocumentedRoute[] {
  return [
    {
      method: "GET",
      path: PATH,
      access: "admin",
      handler: (exchange) => getImportedHistory(services, exchange),
      doc: {
        summary: "Daily sums that were imported from other products, and until when they are shown",
        success: { status: 200, description: "By source", schema: ImportedHistoryShown },
        problems: ["not_found"],
      },
    },
    {
      method: "POST",
      path: `${PATH}/:source`,
      access: "admin",
      handler: (exchange) => postImportedHistory(services, exchange),
      doc: {
        summary:
          "Import daily sums of plausible, fathom or goatcounter: each day in the place of " +
          "what was imported of it before; the same again changes nothing (4 MiB at most)",
        body: ImportedDays,
        success: { status: 200, description: "What was stored", schema: ImportedDaysStored },
        problems: ["not_found"],
      },
    },
    {
      method: "DELETE",
      path: `${PATH}/:source`,
      access: "admin",
      handler: (exchange) => deleteImportedHistory(services, exchange),
      doc: {
        summary: "Remove all that was imported from a source",
        success: { status: 200, description: "What was removed", schema: ImportedDaysRemoved },
        problems: ["not_found"],
      },
    },
  ];
}
