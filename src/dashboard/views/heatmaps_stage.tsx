/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { useWidth } from "../element_width.ts";
import { counted, integer, percent } from "../number_format.ts";
import { DensityLayer, DotLayer, type Sheet } from "./heatmaps_canvas.tsx";
import {
  bandsOf,
  busiestAround,
  clicksAround,
  heatColour,
  pageSize,
  reachAt,
} from "./heatmaps_density.ts";
import type { Device, HeatmapReply, Kind, Point, Reach } from "./heatmaps_replies.ts";

/** Clicks this near to the pointer are counted for it, in document pixels. */
const NEAR_PX = 24;

function Bands({ scroll, sheet }: { scroll: readonly Reach[]; sheet: Sheet }) {
  const bands = useMemo(() => bandsOf(scroll, sheet.heightPx), [scroll, sheet.heightPx]);
  return (
    <>
      {bands.map(({ topPx, heightPx, share }) => {
        const [red, green, blue] = heatColour(share);
        return (
          <div
            key={topPx}
            class="heatmaps-band"
            style={{
              top: `${topPx * sheet.scale}px`,
              height: `${heightPx * sheet.scale}px`,
              background: `rgb(${red} ${green} ${blue} / ${share === 0 ? 0 : 40}%)`,
            }}
          >
            <span class="heatmaps-band-label">
              {percent(share, 0)} <span class="heatmaps-band-depth">{integer(topPx)} px</span>
            </span>
          </div>
        );
      })}
    </>
  );
}

interface HintProps {
  readonly reply: HeatmapReply;
  readonly kind: Kind;
  readonly sheet: Sheet;
  /** On the screen, within the page. */
  readonly at: { readonly xPx: number; readonly yPx: number };
}

/** The clicks or the reach at the pointer. */
function Hint({ reply, kind, sheet, at }: HintProps) {
  const [xPx, yPx] = [at.xPx / sheet.scale, at.yPx / sheet.scale];
  const points = useMemo(() => reply.points.filter(({ fixed }) => !fixed), [reply]);
  let text: string;
  if (kind === "scroll") text = `${percent(reachAt(reply.scroll, yPx), 0)} reach this line`;
  else {
    const clicks = clicksAround(points, { xPx, yPx, widthPx: sheet.widthPx }, NEAR_PX);
    if (clicks === 0) return null;
    text = `${counted(clicks, "click")} around here`;
  }
  const isLeft = at.xPx > sheet.widthPx * sheet.scale / 2;
  return (
    <div
      class={isLeft ? "heatmaps-hint heatmaps-hint-left" : "heatmaps-hint"}
      style={{ left: `${at.xPx}px`, top: `${at.yPx}px` }}
    >
      {text}
    </div>
  );
}

export interface StageProps {
  readonly reply: HeatmapReply;
  readonly device: Device;
  readonly kind: Kind;
  /** What is drawn, in words. */
  readonly label: string;
  /** The address of the capture's image; null: there is none. */
  readonly imageUrl: string | null;
  /** Of the colours and of the capture, from 0 to 1. */
  readonly strength: number;
  readonly brightness: number;
  /** Shown over the page if there is no capture. */
  readonly message: ComponentChildren;
  /** Called with the busiest point where the page is clicked; null: nobody clicked there. */
  readonly onChoose: (point: Point | null) => void;
}

/** What is drawn over the page. */
function Layers({ reply, kind, imageUrl, strength, sheet }: StageProps & { sheet: Sheet }) {
  const points = useMemo(() => reply.points.filter(({ fixed }) => !fixed), [reply]);
  const Drawn = imageUrl === null ? DotLayer : DensityLayer;
  return (
    <div class="heatmaps-layer" style={{ opacity: strength }}>
      {kind === "scroll"
        ? <Bands scroll={reply.scroll} sheet={sheet} />
        : <Drawn points={points} sheet={sheet} />}
    </div>
  );
}

/** The page in its true proportions, with clicks or reach drawn over it; it scrolls within itself. */
export function Stage(props: StageProps) {
  const { reply, device, kind, label, imageUrl, brightness, message, onChoose } = props;
  const { element, widthPx: roomPx } = useWidth<HTMLDivElement>();
  const [pointer, setPointer] = useState<HintProps["at"] | null>(null);
  const { widthPx, heightPx } = useMemo(() => pageSize(reply, device), [reply, device]);
  const scale = Math.min(1, Math.max(1, roomPx) / widthPx);
  const sheet = useMemo(() => ({ widthPx, heightPx, scale }), [widthPx, heightPx, scale]);
  const placeOf = (event: MouseEvent): HintProps["at"] => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return { xPx: event.clientX - box.left, yPx: event.clientY - box.top };
  };
  const choose = (event: MouseEvent) => {
    const { xPx, yPx } = placeOf(event);
    const points = reply.points.filter(({ fixed }) => !fixed);
    const at = { xPx: xPx / scale, yPx: yPx / scale, widthPx };
    onChoose(busiestAround(points, at, NEAR_PX));
  };
  return (
    <div
      ref={element}
      class="heatmaps-scroller"
      tabIndex={0}
      role="region"
      aria-label={`${label}. Scroll to see the whole page`}
    >
      {message}
      <div
        class="heatmaps-page"
        style={{ width: `${widthPx * scale}px`, height: `${heightPx * scale}px` }}
        role="img"
        aria-label={`${label}. The table below has the same numbers`}
        onPointerMove={(event) => setPointer(placeOf(event))}
        onClick={choose}
        onPointerLeave={() => setPointer(null)}
      >
        {imageUrl !== null && (
          <img
            class="heatmaps-picture"
            src={imageUrl}
            alt=""
            style={{
              opacity: brightness,
              height: `${(reply.capture.height ?? heightPx) * scale}px`,
            }}
          />
        )}
        {roomPx > 0 && <Layers {...props} sheet={sheet} />}
        {pointer !== null && <Hint {...{ reply, kind, sheet }} at={pointer} />}
      </div>
    </div>
  );
}
