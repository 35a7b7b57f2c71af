/** What a share may show: the dashboard's views that identify no visitor. */
export const SHARE_VIEWS = [
  "overview",
  "trends",
  "funnels",
  "retention",
  "goals",
  "heatmaps",
] as const;
export type ShareView = typeof SHARE_VIEWS[number];

/** The reads that a share's token may use, and for which views. All others are refused. */
export const SHARE_READS: Readonly<Record<string, readonly ShareView[]>> = {
  "/v1/kpis": ["overview", "trends"],
  "/v1/acquisition": ["overview", "goals"],
  "/v1/pages": ["overview"],
  "/v1/trends": ["trends"],
  "/v1/funnels": ["funnels"],
  "/v1/funnels/:slug": ["funnels"],
  "/v1/retention": ["retention"],
  "/v1/goals": ["goals"],
  "/v1/heatmaps": ["heatmaps"],
  "/v1/heatmaps/paths": ["heatmaps"],
  "/v1/heatmaps/captures/:id": ["heatmaps"],
};
