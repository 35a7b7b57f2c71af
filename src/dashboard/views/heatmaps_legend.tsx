/// <reference lib="dom" />
import { useId } from "preact/hooks";
import { counted } from "../number_format.ts";
import type { Kind } from "./heatmaps_replies.ts";

interface LegendProps {
  readonly kind: Kind;
  /** Clicks of the busiest cell. */
  readonly most: number;
  readonly isDots: boolean;
}

/** What the colours, or the sizes of the dots, stand for. */
export function Legend({ kind, most, isDots }: LegendProps) {
  if (kind === "scroll") {
    return (
      <div class="heatmaps-legend">
        <span>0%</span>
        <span class="heatmaps-scale" aria-hidden="true" />
        <span>100% of page views</span>
      </div>
    );
  }
  const busiest = `${counted(most, "click")} in one place`;
  if (isDots) {
    return (
      <div class="heatmaps-legend">
        <span>1 click</span>
        <span class="heatmaps-dots" aria-hidden="true">
          <span /> <span /> <span />
        </span>
        <span>{busiest}</span>
      </div>
    );
  }
  return (
    <div class="heatmaps-legend">
      <span>Few</span>
      <span class="heatmaps-scale" aria-hidden="true" />
      <span>Many, up to {busiest}</span>
    </div>
  );
}

interface SliderProps {
  readonly label: string;
  readonly percent: number;
  readonly onChange: (percent: number) => void;
}

/** How strong something is shown. */
export function Slider({ label, percent, onChange }: SliderProps) {
  const id = useId();
  return (
    <div class="heatmaps-slider">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="range"
        min="10"
        max="100"
        step="5"
        value={percent}
        aria-valuetext={`${percent}%`}
        onInput={(event) => onChange(Number(event.currentTarget.value))}
      />
    </div>
  );
}
