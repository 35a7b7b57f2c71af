/// <reference lib="dom" />
import { useMemo } from "preact/hooks";
import { Definition } from "../definition.tsx";
import { counted, integer } from "../number_format.ts";
import { DotLayer } from "./heatmaps_canvas.tsx";
import { type Device, type HeatmapReply, WINDOWS } from "./heatmaps_replies.ts";

/** The longer side of the little window, which fits into a panel on the narrowest phones. */
const SIDE_PX = 256;
const MARGIN_PX = 30;

const DEFINITION =
  "Menus, chat buttons and bars that are fixed on screen while the page scrolls. Their clicks are shown where they are in the window, since they belong to no place on the page.";

/** Clicks on what does not scroll with the page, in a window of their own; nothing if there are none. */
export function FixedClicks({ reply, device }: { reply: HeatmapReply; device: Device }) {
  const points = useMemo(() => reply.points.filter(({ fixed }) => fixed), [reply]);
  const { widthPx, heightPx } = WINDOWS[device];
  const sheet = useMemo(() => {
    const deepestPx = points.reduce((most, { y }) => Math.max(most, y + MARGIN_PX), heightPx);
    return { widthPx, heightPx: deepestPx, scale: SIDE_PX / Math.max(widthPx, deepestPx) };
  }, [points, widthPx, heightPx]);
  if (points.length === 0) return null;
  const clicks = points.reduce((sum, { count }) => sum + count, 0);
  const text = counted(clicks, "click");
  return (
    <figure class="heatmaps-fixed">
      <div
        class="heatmaps-page heatmaps-window"
        role="img"
        aria-label={`${text} on elements that are fixed on screen, shown in the window`}
        style={{
          width: `${sheet.widthPx * sheet.scale}px`,
          height: `${sheet.heightPx * sheet.scale}px`,
        }}
      >
        <div class="heatmaps-layer">
          <DotLayer points={points} sheet={sheet} />
        </div>
      </div>
      <figcaption class="heatmaps-fixed-text">
        <span class="heatmaps-fixed-title">
          Fixed on screen
          <Definition of="Fixed on screen" text={DEFINITION} />
        </span>
        <strong class="heatmaps-fixed-count">{text}</strong>
        <span class="muted">
          {`On menus, buttons and bars that do not scroll with the page, in a window of ${
            integer(widthPx)
          } px.`}
        </span>
      </figcaption>
    </figure>
  );
}
