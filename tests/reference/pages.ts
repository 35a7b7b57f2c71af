import { rangeOf } from "./calendar.ts";
import { countingSessions, type ReadParams, selectedInRange } from "./filters.ts";
import { median, type Rate, rate } from "./statistics.ts";
import { actorsOf, byCodeUnits, type Fact, isPageView, type World } from "./world.ts";

export interface PageRow {
  readonly path: string;
  readonly visitors: number;
  readonly pageviews: number;
  readonly entries: number;
  readonly exits: number;
  readonly bounceRate: Rate;
  readonly medianSecondsOnPage: number | null;
  readonly medianScrollDepth: number | null;
}

/** `GET /v1/pages`. */
export function readPages(world: World, params: ReadParams): { rows: PageRow[] } {
  const range = rangeOf(world, params);
  const selected = selectedInRange(world, params, range);
  const views = selected.filter(isPageView);
  const sessions = countingSessions(world, params, range);
  const paths = new Set([
    ...views.map(({ row }) => row.path),
    ...sessions.flatMap(({ landing, exit }) => [landing.row.path, exit.row.path]),
  ]);
  const rows = [...paths].filter((path) => path !== null).map((path): PageRow => {
    const onPath = ({ row }: Fact) => row.path === path;
    const viewsOfPath = views.filter(onPath);
    const entered = sessions.filter(({ landing }) => onPath(landing));
    return {
      path,
      visitors: actorsOf(viewsOfPath).size,
      pageviews: viewsOfPath.length,
      entries: entered.length,
      exits: sessions.filter(({ exit }) => onPath(exit)).length,
      bounceRate: rate(entered.filter(({ bounce }) => bounce).length, entered.length),
      medianSecondsOnPage: median(known(viewsOfPath.map(secondsOnPage))),
      medianScrollDepth: median(known(selected.filter(onPath).map(scrollDepth))),
    };
  });
  return {
    rows: rows.sort((a, b) =>
      b.visitors - a.visitors || b.pageviews - a.pageviews || byCodeUnits(a.path, b.path)
    ),
  };
}

function known(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null);
}

/** To the session's next page view, whatever its filters; the last one to the session's end. */
function secondsOnPage(view: Fact): number | null {
  const { session } = view;
  if (session === null) return null;
  const next = session.pageViews[session.pageViews.indexOf(view) + 1];
  return ((next?.atMs ?? session.endMs) - view.atMs) / 1000;
}

/** How much of the document was seen, 0 to 1. */
function scrollDepth({ row }: Fact): number | null {
  if (row.name !== "scroll" || row.depth_px === null || !row.document_height) return null;
  return Math.min(1, row.depth_px / row.document_height);
}
