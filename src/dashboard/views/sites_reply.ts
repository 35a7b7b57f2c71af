import type { output, ZodObject } from "zod";
import type { OVERVIEW_REPLY } from "../../reports/overview/overview.ts";

/** `GET /v1/overview`. */
export type SitesReply = output<ZodObject<typeof OVERVIEW_REPLY>> & { readonly asOf: string };
export type Site = SitesReply["projects"][number];
