/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import { Behind } from "../behind.tsx";
import { Definition } from "../definition.tsx";
import { DEFINITIONS } from "../definitions.ts";
import { type Column, DataTable, numberColumn } from "../data_table.tsx";
import type { Live } from "../live_stream.ts";
import { addFilter } from "../location_state.ts";
import { counted, integer } from "../number_format.ts";
import { EmptyNote, ErrorNote, OldNote, Panel, Skeleton } from "../panel.tsx";
import { readablePath } from "../../readable_path.ts";
import type { LiveReply } from "../replies.ts";

interface PresentProps {
  readonly minutes: 5 | 30;
  /** Only the visitors of this page. */
  readonly path?: string;
  readonly visitors: number;
  readonly children: ComponentChildren;
}

/** A number of visitors who are there now, linked to them. */
function Present({ minutes, path, visitors, children }: PresentProps) {
  const place = { minutes, ...path === undefined ? {} : { path } };
  const page = path === undefined ? "" : ` on ${readablePath(path)}`;
  return (
    <Behind
      view="people"
      number={{ read: "live", place }}
      of={`Visitors of the last ${minutes} minutes${page}`}
      isLinked={visitors > 0}
    >
      {children}
    </Behind>
  );
}

/** How many visitors are there now, in one line. */
export function LiveLine({ live: { data, problem } }: { live: Live }) {
  const count = data?.visitors.last5Minutes ?? null;
  return (
    <p class="live-line">
      <span class={count ? "live-dot live-dot-on" : "live-dot"} />
      {data === null
        ? (
          <span class="muted">
            {problem === null ? "Looking who is there…" : "Live visitors cannot be read now"}
          </span>
        )
        : (
          <span>
            <Present minutes={5} visitors={count ?? 0}>
              <strong>{counted(count ?? 0, "visitor")}</strong>
            </Present>{" "}
            now{" "}
            <span class="muted">
              ·{" "}
              <Present minutes={30} visitors={data.visitors.last30Minutes}>
                {integer(data.visitors.last30Minutes)}
              </Present>{" "}
              in 30 minutes{problem !== null && " · Reconnecting…"}
            </span>
          </span>
        )}
      <Definition of="Visitors now" text={DEFINITIONS.live} />
    </p>
  );
}

type LivePage = LiveReply["pages"][number];

const COLUMNS: readonly Column<LivePage>[] = [
  { title: "Page", value: ({ path }) => path, show: ({ path }) => readablePath(path) },
  numberColumn("Visitors", ({ visitors }) => visitors, {
    definition: DEFINITIONS.live,
    show: ({ path, visitors }) => (
      <Present minutes={5} path={path} visitors={visitors}>{integer(visitors)}</Present>
    ),
  }),
];

/** The page views of each of the last 30 minutes. */
function Minutes({ series }: Pick<LiveReply, "series">) {
  const most = Math.max(1, ...series.map(({ pageviews }) => pageviews));
  const sum = series.reduce((total, { pageviews }) => total + pageviews, 0);
  return (
    <figure class="live-minutes">
      <div
        class="live-bars"
        role="img"
        aria-label={`${counted(sum, "page view")} in the last 30 minutes`}
      >
        {series.map(({ start, label, pageviews }) => (
          <span
            key={start}
            class={pageviews === 0 ? "live-bar live-bar-none" : "live-bar"}
            style={{ height: `${Math.max(3, 100 * pageviews / most)}%` }}
            title={`${label.slice(-5)}: ${integer(pageviews)}`}
          />
        ))}
      </div>
      <figcaption class="live-caption">
        <span>30 minutes ago</span>
        <span>{counted(sum, "page view")}</span>
        <span>now</span>
      </figcaption>
    </figure>
  );
}

/** Who is there now, and where. */
export function LivePanel({ live: { data, problem } }: { live: Live }) {
  return (
    <Panel title="Right now" definition={DEFINITIONS.live}>
      {data === null && (problem === null ? <Skeleton /> : <ErrorNote problem={problem} />)}
      {data !== null && (
        <>
          <OldNote problem={problem} />
          <Minutes series={data.series} />
          <DataTable
            caption="Pages that visitors are on"
            columns={COLUMNS}
            rows={data.pages}
            rowKey={({ path }) => path}
            bars
            onRow={({ path }) => addFilter("path", path)}
            csvName={data.pages.length > 0 ? "visitors now" : undefined}
            empty={<EmptyNote title="Nobody is here right now" />}
          />
        </>
      )}
    </Panel>
  );
}
