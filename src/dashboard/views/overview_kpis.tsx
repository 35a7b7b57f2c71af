/// <reference lib="dom" />
import { useMemo } from "preact/hooks";
import { Behind } from "../behind.tsx";
import { ChartBlock } from "../chart_block.tsx";
import { type ChartLine, pointsOf } from "../chart_lines.ts";
import { comparedName } from "../compared.tsx";
import { Icon } from "../icons.tsx";
import { ImportedNote } from "../imported_days.tsx";
import { KpiTile } from "../kpi_tile.tsx";
import { hasValue } from "../location_query.ts";
import { go, rangeName, viewParam } from "../location_state.ts";
import { ErrorNote, OldNote, Skeleton } from "../panel.tsx";
import type { KpisReply } from "../replies.ts";
import type { Resource } from "../resource.ts";
import { SHARE_ID } from "../share.ts";
import { changeOf, type Figure, FIGURES, isRate } from "./overview_figures.ts";

const CHART_PX = 280;

type Listed = Pick<Parameters<typeof Behind>[0], "view" | "filters" | "number" | "of">;

/** The people or visits behind each figure, which can be listed. */
const LISTED: Readonly<Record<string, Listed>> = {
  visitors: { view: "people", of: "Visitors" },
  sessions: { view: "visits", of: "Visits" },
  pageviews: {
    view: "people",
    filters: [hasValue("name", "page_view")],
    of: "People who viewed pages",
  },
  pagesPerVisit: { view: "visits", of: "Visits with their page views" },
  bounceRate: {
    view: "visits",
    number: { read: "kpis", place: { count: "bounces" } },
    of: "Visits that bounced",
  },
  duration: { view: "visits", of: "Visits with their duration" },
  newVisitors: {
    view: "people",
    number: { read: "kpis", place: { count: "newVisitors" } },
    of: "New visitors",
  },
  events: { view: "people", of: "People with their events" },
};

/** A link to those whom a figure counts; imported sums have no such list. */
function Who({ figure: { id }, data }: { figure: Figure; data: KpisReply | null }) {
  const listed = LISTED[id];
  if (listed === undefined || SHARE_ID !== null || data === null || data.totals.imported) {
    return null;
  }
  return (
    <Behind {...listed} isDrawing>
      <Icon name="people" size={14} />
    </Behind>
  );
}

function Tiles({ data, chosen }: { data: KpisReply | null; chosen: Figure }) {
  return (
    <div class="tiles overview-tiles">
      {FIGURES.map((figure) => {
        const { id, label, definition, of, format, isDownGood = false } = figure;
        const now = data === null ? null : of(data.totals);
        const before = data?.previous === undefined ? undefined : of(data.previous.totals);
        return (
          <KpiTile
            key={id}
            {...{ label, definition, isDownGood }}
            value={data === null ? null : format(now)}
            change={before === undefined ? undefined : changeOf(figure, now, before)}
            isRate={isRate(figure)}
            previous={before === undefined ? undefined : format(before)}
            isSelected={figure === chosen}
            who={<Who figure={figure} data={data} />}
            onSelect={() => go({ params: { metric: id === FIGURES[0]!.id ? null : id } })}
          />
        );
      })}
    </div>
  );
}

function linesOf(
  { series, previous, asOf }: KpisReply,
  { label, of }: Figure,
): readonly ChartLine[] {
  const points = (buckets: KpisReply["series"]) => pointsOf(buckets, of, asOf);
  const own = { name: label, points: points(series) };
  if (previous === undefined) return [own];
  // Paired by position: the rest of a longer period before has no counterpart.
  const before = points(previous.series).slice(0, series.length);
  return [own, { name: comparedName(previous), points: before, isComparison: true }];
}

function Chart({ data, figure }: { data: KpisReply; figure: Figure }) {
  const lines = useMemo(() => linesOf(data, figure), [data, figure]);
  return (
    <ChartBlock
      title={`${figure.label} over time`}
      lines={lines}
      interval={data.query.interval}
      format={figure.format}
      {...figure.unit && { unit: figure.unit }}
      heightPx={CHART_PX}
      csvName={rangeName(figure.id)}
    />
  );
}

/** The key figures, and the chosen one over time. */
export function KeyFigures({ kpis }: { kpis: Resource<KpisReply> }) {
  const chosen = FIGURES.find(({ id }) => id === viewParam("metric")) ?? FIGURES[0]!;
  const { state, data, problem, reload } = kpis;
  return (
    <section
      class="panel"
      aria-labelledby="key-figures"
      aria-busy={state === "loading"}
      data-state={state}
    >
      <h2 id="key-figures" class="visually-hidden">Key figures</h2>
      {state === "error" ? <ErrorNote problem={problem} onRetry={reload} /> : (
        <>
          <Tiles data={data} chosen={chosen} />
          <div class="panel-body tiles-chart">
            <OldNote problem={problem} />
            {data === null ? <Skeleton rows={8} /> : <Chart data={data} figure={chosen} />}
          </div>
          {data !== null && <ImportedNote query={data.query} />}
        </>
      )}
    </section>
  );
}
