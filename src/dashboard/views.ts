/// <reference lib="dom" />
import type { ComponentType } from "preact";
import type { IconName } from "./icons.tsx";
import { lazyView } from "./lazy_view.tsx";
import { FunnelsView } from "./views/funnels.tsx";
import { GoalsView } from "./views/goals.tsx";
import { InsightsView } from "./views/insights.tsx";
import { OverviewView } from "./views/overview.tsx";
import { TrendsView } from "./views/trends.tsx";

/** The bar's controls, of which a view uses some. */
export type Control = "range" | "compare" | "interval" | "filters";

/** The view of all projects. */
export const SITES = "sites";

export interface View {
  readonly id: string;
  readonly title: string;
  readonly icon: IconName;
  readonly component: ComponentType;
  readonly controls: readonly Control[];
  /** The scope that a token needs to see it. */
  readonly scope?: string;
  /** It is about all projects: hidden from people who see only one. */
  readonly isOfAll?: true;
}

/** The default view of a project. */
export const FIRST_VIEW = "overview";

/** Every view, in the order of the navigation. */
export const VIEWS: readonly View[] = [
  {
    id: SITES,
    title: "Sites",
    icon: "sites",
    component: lazyView(async () => (await import("./views/sites.tsx")).SitesView),
    controls: ["range"],
    isOfAll: true,
  },
  {
    id: "overview",
    title: "Overview",
    icon: "overview",
    component: OverviewView,
    controls: ["range", "compare", "interval", "filters"],
  },
  {
    id: "insights",
    title: "Insights",
    icon: "insights",
    component: InsightsView,
    controls: ["range", "filters"],
  },
  {
    id: "trends",
    title: "Trends",
    icon: "trends",
    component: TrendsView,
    controls: ["range", "compare", "interval", "filters"],
  },
  {
    id: "funnels",
    title: "Funnels",
    icon: "funnels",
    component: FunnelsView,
    controls: ["range", "compare", "filters"],
  },
  {
    id: "journeys",
    title: "Journeys",
    icon: "journeys",
    component: lazyView(async () => (await import("./views/journeys.tsx")).JourneysView),
    controls: ["range", "filters"],
  },
  {
    id: "retention",
    title: "Retention",
    icon: "retention",
    component: lazyView(async () => (await import("./views/retention.tsx")).RetentionView),
    controls: ["range", "compare", "filters"],
  },
  {
    id: "goals",
    title: "Goals",
    icon: "goals",
    component: GoalsView,
    controls: ["range", "compare", "interval", "filters"],
  },
  {
    id: "heatmaps",
    title: "Heatmaps",
    icon: "heatmaps",
    component: lazyView(async () => (await import("./views/heatmaps.tsx")).HeatmapsView),
    controls: ["range", "filters"],
  },
  {
    id: "visits",
    title: "Visits",
    icon: "log",
    component: lazyView(async () => (await import("./views/visits.tsx")).VisitsView),
    controls: ["range", "filters"],
  },
  {
    id: "people",
    title: "People",
    icon: "people",
    component: lazyView(async () => (await import("./views/people.tsx")).PeopleView),
    controls: ["range", "filters"],
  },
  {
    id: "vitals",
    title: "Web vitals",
    icon: "vitals",
    component: lazyView(async () => (await import("./views/vitals.tsx")).VitalsView),
    controls: ["range", "interval", "filters"],
  },
  {
    id: "events",
    title: "Events",
    icon: "events",
    component: lazyView(async () => (await import("./views/events.tsx")).EventsView),
    controls: ["range", "filters"],
  },
  {
    id: "settings",
    title: "Settings",
    icon: "settings",
    // Loaded on demand, as few people open it: 20 KB, gzipped.
    component: lazyView(async () => (await import("./views/settings.tsx")).SettingsView),
    controls: [],
  },
];
