import { rangeOf } from "./calendar.ts";
import { countingSessions, type ReadParams, selectedInRange } from "./filters.ts";
import {
  type ImportedRow,
  type ShownDay,
  shownDays,
  together,
  told,
  toldWith,
} from "./imported.ts";
import { median, type Rate, rate } from "./statistics.ts";
import { actorsOf, byCodeUnits, type Fact, isPageView, type World } from "./world.ts";

export interface PageRow {
  readonly path: string;
  readonly visitors: number | null;
  readonly pageviews: number | null;
  readonly entries: number | null;
  readonly exits: number | null;
  readonly bounceRate: Rate;
  readonly medianSecondsOnPage: number | null;
  readonly medianScrollDepth: number | null;
  readonly imported?: true;
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
    rows: withImported(rows, shownDays(world, params, range, "path")).sort((a, b) =>
      (b.visitors ?? 0) - (a.visitors ?? 0) || (b.pageviews ?? 0) - (a.pageviews ?? 0) ||
      byCodeUnits(a.path, b.path)
    ),
  };
}

/** Own pages and those of imported days, each once. */
function withImported(own: readonly PageRow[], days: readonly ShownDay[]): PageRow[] {
  const rowsOf = (dimension: string) => days.flatMap((day) => day.rowsOf.get(dimension) ?? []);
  const [views, entries, exits] = ["path", "entryPath", "exitPath"].map(rowsOf) as [
    ImportedRow[],
    ImportedRow[],
    ImportedRow[],
  ];
  const named = new Set([...views, ...entries, ...exits].map(({ value }) => value));
  const paths = new Set([...own.map(({ path }) => path), ...named]);
  return [...paths].filter((path) => path !== null).map((path): PageRow => {
    const row = own.find((one) => one.path === path) ?? null;
    if (!named.has(path)) return row!;
    const of = (rows: readonly ImportedRow[]) => rows.filter(({ value }) => value === path);
    // What days tell of other pages they tell of this one: there was nothing.
    const count = (dimension: string, figure: "visitors" | "visits" | "pageviews") => {
      const rows = of(rowsOf(dimension));
      const isTold = days.some((day) => day.rowsOf.has(dimension));
      return rows.length > 0 ? told(rows, figure) : isTold ? 0 : null;
    };
    const rateOf = row?.bounceRate ?? rate(0, 0);
    return {
      path,
      visitors: together(row?.visitors ?? null, count("path", "visitors")),
      pageviews: together(row?.pageviews ?? null, count("path", "pageviews")),
      entries: together(row?.entries ?? null, count("entryPath", "visits")),
      exits: together(row?.exits ?? null, count("exitPath", "visits")),
      bounceRate: rate(
        rateOf.numerator + (told(of(entries), "bounces") ?? 0),
        rateOf.denominator + toldWith(of(entries), "visits", "bounces"),
      ),
      medianSecondsOnPage: row?.medianSecondsOnPage ?? null,
      medianScrollDepth: row?.medianScrollDepth ?? null,
      imported: true,
    };
  });
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
