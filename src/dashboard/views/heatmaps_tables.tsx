/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { type Column, DataTable } from "../data_table.tsx";
import { integer, percent } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import type { Resource } from "../resource.ts";
import type { Device, HeatmapReply, Kind, Point, Reach } from "./heatmaps_replies.ts";

const ROWS_STEP = 10;

const CLICKED =
  "Where the clicks of one small cell are: how far across the page, and how far down it in pixels.";
const REACHED = "Page views that were seen at least so far down, out of all with a recorded depth.";

function pointColumns(all: number): Column<Point>[] {
  return [
    {
      title: "Place",
      definition: CLICKED,
      value: ({ x, y }) => `${(x * 100).toFixed(2)}% across, ${y} px down`,
      show: ({ x, y }) => `${percent(x, 1)} across, ${integer(y)} px down`,
    },
    {
      title: "Clicks",
      value: ({ count }) => count,
      show: ({ count }) => integer(count),
      isNumber: true,
    },
    {
      title: "Share",
      value: ({ count }) => count / all,
      show: ({ count }) => percent(count / all, 1),
      isNumber: true,
      isMinor: true,
    },
    {
      title: "Visitors",
      value: ({ visitors }) => visitors,
      show: ({ visitors }) => integer(visitors),
      isNumber: true,
    },
    {
      title: "Fixed on screen",
      definition: "Whether what was clicked keeps its place in the window while the page scrolls.",
      value: ({ fixed }) => fixed,
      show: ({ fixed }) => fixed ? "Yes" : "No",
      isMinor: true,
    },
  ];
}

function reachColumns(views: number): Column<Reach>[] {
  return [
    {
      title: "Depth",
      value: ({ depthPx }) => depthPx,
      show: ({ depthPx }) => `${integer(depthPx)} px`,
    },
    {
      title: "Page views",
      definition: REACHED,
      value: ({ reached }) => reached,
      show: ({ reached }) => integer(reached),
      isNumber: true,
    },
    {
      title: "Share",
      value: ({ reached }) => reached / views,
      show: ({ reached }) => percent(reached / views, 1),
      isNumber: true,
    },
  ];
}

interface TableProps {
  readonly heatmap: Resource<HeatmapReply>;
  readonly kind: Kind;
  readonly device: Device;
}

/** The heatmap as numbers: the strongest spots, or the depths that page views reached. */
export function HeatmapTable({ heatmap, kind, device }: TableProps) {
  const [shown, setShown] = useState(ROWS_STEP);
  const { points = [], scroll = [] } = heatmap.data ?? {};
  const more = (all: number) => shown < all ? () => setShown(shown + 4 * ROWS_STEP) : undefined;
  if (kind === "scroll") {
    const views = scroll[0]?.reached ?? 0;
    return (
      <Panel
        title="How far down page views got"
        definition={REACHED}
        state={heatmap}
        empty={scroll.length === 0 ? <EmptyNote title="No scrolling was recorded here" /> : null}
      >
        <DataTable
          caption="Page views by the depth that they reached"
          columns={reachColumns(views)}
          rows={scroll.slice(0, shown)}
          rowKey={({ depthPx }) => String(depthPx)}
          share={({ reached }) => reached / views}
          onMore={more(scroll.length)}
          allRows={() => Promise.resolve(scroll)}
          csvName={`scroll depth ${device}`}
        />
      </Panel>
    );
  }
  const all = points.reduce((sum, { count }) => sum + count, 0);
  return (
    <Panel
      title="Strongest spots"
      definition={CLICKED}
      state={heatmap}
      empty={points.length === 0 ? <EmptyNote title="No clicks to list" /> : null}
    >
      <DataTable
        caption="Places on the page by their clicks"
        columns={pointColumns(all)}
        rows={points.slice(0, shown)}
        rowKey={({ x, y, fixed }) => `${x} ${y} ${fixed}`}
        share={({ count }) => count / (points[0]?.count ?? 1)}
        onMore={more(points.length)}
        allRows={() => Promise.resolve(points)}
        csvName={`heatmap ${kind} ${device}`}
      />
    </Panel>
  );
}
