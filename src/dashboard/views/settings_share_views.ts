/** The views that may be shared, in the order of the dashboard. */
export const SHARE_VIEW_CHOICES = [
  { value: "overview", label: "Overview" },
  { value: "trends", label: "Trends" },
  { value: "funnels", label: "Funnels" },
  { value: "retention", label: "Retention" },
  { value: "goals", label: "Goals" },
  { value: "heatmaps", label: "Heatmaps" },
] as const;
