import { z } from "zod";
import {
  deleteShare,
  getShares,
  patchShare,
  postShare,
  type ShareServices,
} from "../shares/share_endpoints.ts";
import {
  postShareToken,
  ShareEntered,
  ShareEntry,
  type ShareEntryServices,
} from "../shares/share_entry.ts";
import type { LiveShares } from "../shares/live_shares.ts";
import { ShareChange, ShareCreation, ShareShown } from "../shares/shares.ts";
import type { DashboardPage } from "./dashboard_endpoints.ts";
import { type DocumentedRoute, shown } from "./documented_route.ts";

export interface ShareRouteServices
  extends Omit<ShareServices, "shares">, Omit<ShareEntryServices, "shares"> {
  readonly shares: LiveShares;
}

/** Returns the routes that list, make, change and revoke shares. */
function settingRoutes(services: ShareRouteServices): DocumentedRoute[] {
  const path = "/v1/projects/:id/shares";
  return [
    {
      method: "GET",
      path,
      access: "admin",
      handler: (exchange) => getShares(services, exchange),
      doc: {
        summary: "Dashboards of the project that are shown to whoever has their link",
        success: shown("Shares, oldest first", z.object({ shares: z.array(ShareShown) })),
        problems: ["not_found"],
      },
    },
    {
      method: "POST",
      path,
      access: "admin",
      handler: (exchange) => postShare(services, exchange),
      doc: {
        summary: "Share a dashboard: some views, without anything that names a person",
        body: ShareCreation,
        success: shown("The share and its link", ShareShown, 201),
        problems: ["not_found", "conflict"],
      },
    },
    {
      method: "PATCH",
      path: `${path}/:shareId`,
      access: "admin",
      handler: (exchange) => patchShare(services, exchange),
      doc: {
        summary: "Change a share, on every server within a second; members left out stay",
        body: ShareChange,
        success: shown("The share as it is now", ShareShown),
        problems: ["not_found"],
      },
    },
    {
      method: "DELETE",
      path: `${path}/:shareId`,
      access: "admin",
      handler: (exchange) => deleteShare(services, exchange),
      doc: {
        summary: "Revoke a share, on every server within a second",
        success: { status: 204, description: "Revoked" },
        problems: ["not_found"],
      },
    },
  ];
}

/**
 * Returns the routes of shared dashboards: their settings, their page, and the token that the page reads
 * with.
 */
export function shareRoutes(
  services: ShareRouteServices,
  page: DashboardPage["shared"],
): DocumentedRoute[] {
  return [
    ...settingRoutes(services),
    {
      method: "POST",
      path: "/v1/shares/:shareId/token",
      access: "anyone",
      handler: (exchange) => postShareToken(services, exchange),
      doc: {
        summary: "A token that reads a shared dashboard, for whoever has its link and password",
        body: ShareEntry,
        success: shown("The token, and what the share shows", ShareEntered),
        problems: [
          "password_required",
          "invalid_password",
          "not_found",
          "conflict",
          "too_many_attempts",
        ],
      },
    },
    {
      method: "GET",
      path: "/share/:shareId",
      access: "anyone",
      handler: async (exchange) => {
        const share = await services.shares.find(exchange.params.shareId ?? "");
        return await page(exchange, share?.embedOrigins ?? null);
      },
      doc: {
        summary: "A shared dashboard, in a frame of the origins that the share names; 404 if ended",
        success: {
          status: 200,
          description: "The page",
          contentType: "text/html",
          also: { 404: { description: "A page that says so", contentType: "text/html" } },
        },
        problems: ["not_found"],
      },
    },
  ];
}
