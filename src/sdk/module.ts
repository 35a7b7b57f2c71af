import { createAnalytics as create } from "./analytics.ts";
import type * as declared from "./sdk.d.ts";

/** The module: what sdk.d.ts declares, checked against it. */
export const createAnalytics: typeof declared.createAnalytics = create;
