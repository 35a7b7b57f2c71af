/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { DEFINITIONS } from "../definitions.ts";
import { Segments } from "../field.tsx";
import { OTHER } from "../filter_fields.ts";
import { go, type Params, sharedParams, viewParam } from "../location_state.ts";
import { counted, integer } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import { readablePath } from "../../readable_path.ts";
import { type Resource, usePages, useRead } from "../resource.ts";
import { SHARE_ID } from "../share.ts";
import { ChosenPoint, MapCount, type ShownMap } from "./heatmaps_behind.tsx";
import { MissingPicture, PictureLine, Recapture, usePicture } from "./heatmaps_capture.tsx";
import { FixedClicks } from "./heatmaps_fixed.tsx";
import { type JobRun, useCaptureJob } from "./heatmaps_job.ts";
import { PathsPanel } from "./heatmaps_paths.tsx";
import {
  DEVICE_LABELS,
  DEVICES,
  type HeatmapReply,
  type Kind,
  type PathRow,
  type Point,
  readDevice,
  readKind,
} from "./heatmaps_replies.ts";
import { Stage } from "./heatmaps_stage.tsx";
import { HeatmapTable } from "./heatmaps_tables.tsx";
import { Legend, Slider } from "./heatmaps_legend.tsx";

const ROWS = 15;
const KIND_CHOICES = [
  { value: "click", label: "Clicks" },
  { value: "rage", label: "Rage clicks" },
  { value: "dead", label: "Dead clicks" },
  { value: "scroll", label: "Scroll reach" },
];
const DEVICE_CHOICES = DEVICES.map((value) => ({ value, label: DEVICE_LABELS[value] }));

const KIND_DEFINITIONS: Readonly<Record<Kind, string>> = {
  click: "Where visitors clicked on the page, in windows of the chosen width.",
  rage: DEFINITIONS.rageClicks,
  dead: DEFINITIONS.deadClicks,
  scroll: "The share of page views that were seen down to each line of the page.",
};
const KIND_NOUNS: Readonly<Record<Kind, readonly [string, string]>> = {
  click: ["click", "clicks"],
  rage: ["rage click", "rage clicks"],
  dead: ["dead click", "dead clicks"],
  scroll: ["page view", "page views"],
};

function countOf(kind: Kind, count: number): string {
  return counted(count, ...KIND_NOUNS[kind]);
}

/** Why clicks are not drawn. */
const REST = SHARE_ID === null ? "without a position" : "of too few visitors to be shown";

/** How many clicks are drawn, and how many are not. */
function Sample({ reply, map }: { reply: HeatmapReply; map: ShownMap }) {
  const { points, scroll, sample } = reply;
  const { kind } = map;
  if (kind === "scroll") {
    return (
      <p class="heatmaps-sample">
        <strong>{countOf(kind, scroll[0]?.reached ?? 0)}</strong> with a recorded depth
      </p>
    );
  }
  if (sample === null) {
    return <p class="heatmaps-sample">Too few visitors clicked here to be shown</p>;
  }
  const drawn = points.reduce((sum, { count }) => sum + count, 0);
  const rest = kind === "click" ? sample.clicks - drawn : 0;
  const people = (
    <MapCount
      map={map}
      place={{ sample: "visitors" }}
      of="People who clicked on the page"
      count={sample.visitors}
    >
      {counted(sample.visitors, "visitor")}
    </MapCount>
  );
  return (
    <p class="heatmaps-sample">
      <strong>{countOf(kind, drawn)}</strong>
      <span class="muted">
        {kind === "click" ? " of " : ` of ${counted(sample.clicks, "click")} by `}
        {people}
        {kind === "click" && rest > 0 && `, and ${integer(rest)} ${REST}`}
      </span>
    </p>
  );
}

interface MapProps extends ShownMap {
  readonly heatmap: Resource<HeatmapReply>;
  readonly run: JobRun;
}

function HeatmapPanel({ heatmap, run, ...map }: MapProps) {
  const { page, isPattern, device, kind } = map;
  const [chosen, setChosen] = useState<Point | null>(null);
  const [strength, setStrength] = useState(85);
  const [brightness, setBrightness] = useState(70);
  const { data } = heatmap;
  const picture = usePicture(data?.capture.captureId ?? null);
  const isEmpty = data !== null && data.points.length === 0 && data.scroll.length === 0;
  return (
    <Panel
      title={readablePath(page)}
      definition={KIND_DEFINITIONS[kind]}
      state={heatmap}
      skeletonRows={14}
      class="heatmaps-map"
    >
      {data && (
        <>
          <div class="heatmaps-facts">
            <Sample reply={data} map={map} />
            <ChosenPoint
              map={map}
              point={chosen !== null && data.points.includes(chosen) ? chosen : null}
            />
            {data.capture.captureId !== null && <PictureLine capture={data.capture} />}
          </div>
          <div class="heatmaps-tools">
            {!isEmpty && (
              <Legend
                kind={kind}
                most={data.points.find(({ fixed }) => !fixed)?.count ?? 0}
                isDots={!picture.url}
              />
            )}
            <div class="heatmaps-sliders">
              <Slider label="Colours" percent={strength} onChange={setStrength} />
              {picture.url && (
                <Slider label="Capture" percent={brightness} onChange={setBrightness} />
              )}
            </div>
          </div>
          {isEmpty && (
            <p class="heatmaps-none" role="status">
              No {KIND_NOUNS[kind][1]} were recorded here on {DEVICE_LABELS[device].toLowerCase()}
              {" "}
              windows in this range.
            </p>
          )}
          <Stage
            reply={data}
            device={device}
            kind={kind}
            label={`${KIND_CHOICES.find(({ value }) => value === kind)!.label} on ${
              readablePath(page)
            }`}
            imageUrl={picture.url}
            strength={strength / 100}
            brightness={brightness / 100}
            onChoose={setChosen}
            message={picture.url === null && !picture.isLoading
              ? <MissingPicture capture={data.capture} picture={picture} />
              : null}
          />
          {!isPattern && <Recapture run={run} path={page} device={device} />}
          <FixedClicks reply={data} device={device} />
        </>
      )}
    </Panel>
  );
}

/** Where pages are clicked, and how far down they are seen. */
export function HeatmapsView() {
  const shared = sharedParams();
  const paths = usePages<PathRow>("/v1/heatmaps/paths", { ...shared, limit: ROWS });
  const [first] = paths.rows;
  const page = viewParam("path") ?? (first?.path === OTHER ? null : first?.path ?? null);
  const device = readDevice(viewParam("device"));
  const kind = readKind(viewParam("kind"));
  // A path may contain a star too: a listed path is not a pattern.
  const isPattern = page !== null && page.includes("*") &&
    !paths.rows.some(({ path }) => path === page);
  const params: Params = { ...shared, [isPattern ? "pattern" : "path"]: page, device, kind };
  const heatmap = useRead<HeatmapReply>(page === null ? null : "/v1/heatmaps", params);
  const run = useCaptureJob(() => {
    heatmap.reload();
    paths.reload();
  });
  const map = { heatmap, isPattern, device, kind, run };
  return (
    <>
      <div class="heatmaps-choices">
        <Segments
          label="What is shown"
          value={kind}
          choices={KIND_CHOICES}
          onChange={(value) => go({ params: { kind: value === "click" ? null : value } })}
        />
        <Segments
          label="Device"
          value={device}
          choices={DEVICE_CHOICES}
          onChange={(value) => go({ params: { device: value === "desktop" ? null : value } })}
        />
      </div>
      <div class="heatmaps-grid">
        <PathsPanel paths={paths} page={page} />
        <div class="stack-wide">
          {page === null
            ? paths.state === "ready" && (
              <Panel title="Heatmap">
                <EmptyNote title="Nothing to draw yet">
                  As soon as a page is clicked, its heatmap is here.
                </EmptyNote>
              </Panel>
            )
            : (
              <>
                <HeatmapPanel key={page} page={page} {...map} />
                <HeatmapTable
                  key={`${page} ${kind}`}
                  {...{ heatmap, params }}
                  map={{ page, isPattern, device, kind }}
                />
              </>
            )}
        </div>
      </div>
    </>
  );
}
