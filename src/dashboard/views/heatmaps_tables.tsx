/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { type Column, DataTable } from "../data_table.tsx";
import type { Params } from "../location_state.ts";
import { integer, percent } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import { type Resource, useRead } from "../resource.ts";
import type { Device, Element, HeatmapReply, Kind, Reach } from "./heatmaps_replies.ts";

const ROWS_STEP = 10;
const ELEMENTS_LISTED = 100;

const CLICKED =
  "What was clicked, by the selector that finds it on the page. Clicks without one are not listed.";
const REACHED = "Page views that were seen at least so far down, out of all with a recorded depth.";

function elementColumns(all: number): Column<Element>[] {
  return [
    {
      title: "Element",
      definition: CLICKED,
      value: ({ selector }) => selector,
      show: ({ selector }) => <code class="heatmaps-selector" title={selector}>{selector}</code>,
    },
    {
      title: "Clicks",
      value: ({ count }) => count,
      show: ({ count }) => integer(count),
      isNumber: true,
    },
    {
      title: "Share",
      definition: "Of all clicks of this kind on the page.",
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
  /** What the heatmap was read with. */
  readonly params: Params;
}

function ReachTable({ heatmap, device }: TableProps) {
  const [shown, setShown] = useState(ROWS_STEP);
  const { scroll = [] } = heatmap.data ?? {};
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
        bars
        onMore={shown < scroll.length ? () => setShown(shown + 4 * ROWS_STEP) : undefined}
        allRows={() => Promise.resolve(scroll)}
        csvName={`scroll depth ${device}`}
      />
    </Panel>
  );
}

/** Read by itself: each click is looked up for it, and the map need not wait for that. */
function ElementsTable({ kind, device, params }: TableProps) {
  const [shown, setShown] = useState(ROWS_STEP);
  const read = useRead<HeatmapReply>("/v1/heatmaps", { ...params, elements: ELEMENTS_LISTED });
  const { elements = [], sample, points = [] } = read.data ?? {};
  const all = kind === "click"
    ? sample?.clicks ?? 0
    : points.reduce((sum, { count }) => sum + count, 0);
  return (
    <Panel
      title="Most clicked elements"
      definition={CLICKED}
      state={read}
      empty={elements.length === 0 ? <EmptyNote title="No clicks to list" /> : null}
    >
      <DataTable
        caption="Elements of the page by their clicks"
        columns={elementColumns(all)}
        rows={elements.slice(0, shown)}
        rowKey={({ selector }) => selector}
        bars
        onMore={shown < elements.length ? () => setShown(shown + 4 * ROWS_STEP) : undefined}
        allRows={() => Promise.resolve(elements)}
        csvName={`clicked elements ${kind} ${device}`}
      />
    </Panel>
  );
}

/** The heatmap as numbers: the elements most clicked, or the depths that page views reached. */
export function HeatmapTable(props: TableProps) {
  return props.kind === "scroll" ? <ReachTable {...props} /> : <ElementsTable {...props} />;
}
