/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { type Column, DataTable, numberColumn } from "../data_table.tsx";
import { type Params, rangeName } from "../location_state.ts";
import { integer, percent } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import { type Resource, useRead } from "../resource.ts";
import { MapCount, type ShownMap } from "./heatmaps_behind.tsx";
import type { Element, HeatmapReply, Reach } from "./heatmaps_replies.ts";

const ROWS_STEP = 10;
const ELEMENTS_LISTED = 100;

const CLICKED =
  "What was clicked, by the selector that finds it on the page. Clicks without one are not listed.";
const REACHED = "Page views that were seen at least so far down, out of all with a recorded depth.";

function ElementCount(
  { map, element, isTheirs }: { map: ShownMap; element: Element; isTheirs: boolean },
) {
  const { selector, count, visitors } = element;
  return (
    <MapCount
      map={map}
      place={{ element: selector }}
      of={`People who clicked ${selector}`}
      count={visitors}
      isTheirs={isTheirs}
    >
      {integer(isTheirs ? visitors : count)}
    </MapCount>
  );
}

function elementColumns(map: ShownMap, all: number): Column<Element>[] {
  return [
    {
      title: "Element",
      definition: CLICKED,
      value: ({ selector }) => selector,
      show: ({ selector }) => <code class="heatmaps-selector" title={selector}>{selector}</code>,
    },
    numberColumn("Clicks", ({ count }) => count, {
      show: (element) => <ElementCount map={map} element={element} isTheirs={false} />,
    }),
    numberColumn("Share", ({ count }) => count / all, {
      definition: "Of all clicks of this kind on the page.",
      format: (value) => percent(value, 1),
      isMinor: true,
    }),
    numberColumn("Visitors", ({ visitors }) => visitors, {
      show: (element) => <ElementCount map={map} element={element} isTheirs />,
    }),
  ];
}

function reachColumns(map: ShownMap, views: number): Column<Reach>[] {
  return [
    {
      title: "Depth",
      value: ({ depthPx }) => depthPx,
      show: ({ depthPx }) => `${integer(depthPx)} px`,
    },
    numberColumn("Page views", ({ reached }) => reached, {
      definition: REACHED,
      show: ({ depthPx, reached }) => (
        <MapCount
          map={map}
          place={{ depthPx }}
          of={`People whose page views reached ${integer(depthPx)} px`}
          count={reached}
          isTheirs={false}
        >
          {integer(reached)}
        </MapCount>
      ),
    }),
    numberColumn("Share", ({ reached }) => reached / views, {
      format: (value) => percent(value, 1),
    }),
  ];
}

interface TableProps {
  readonly heatmap: Resource<HeatmapReply>;
  readonly map: ShownMap;
  /** The parameters of the heatmap's read. */
  readonly params: Params;
}

/** The name of a file, with device, range and page. */
function fileName(what: string, { page, device }: ShownMap): string {
  return `${rangeName(`${what} ${device}`)} ${page}`;
}

function ReachTable({ heatmap, map }: TableProps) {
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
        columns={reachColumns(map, views)}
        rows={scroll.slice(0, shown)}
        rowKey={({ depthPx }) => String(depthPx)}
        bars
        onMore={shown < scroll.length ? () => setShown(shown + 4 * ROWS_STEP) : undefined}
        allRows={() => Promise.resolve(scroll)}
        csvName={fileName("scroll depth", map)}
      />
    </Panel>
  );
}

/** A read of its own: it looks up each click, for which the map need not wait. */
function ElementsTable({ map, params }: TableProps) {
  const { kind } = map;
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
        columns={elementColumns(map, all)}
        rows={elements.slice(0, shown)}
        rowKey={({ selector }) => selector}
        bars
        onMore={shown < elements.length ? () => setShown(shown + 4 * ROWS_STEP) : undefined}
        allRows={() => Promise.resolve(elements)}
        csvName={fileName(`clicked elements ${kind}`, map)}
      />
    </Panel>
  );
}

/** The heatmap as numbers: the elements most clicked, or the depths that page views reached. */
export function HeatmapTable(props: TableProps) {
  return props.map.kind === "scroll" ? <ReachTable {...props} /> : <ElementsTable {...props} />;
}
