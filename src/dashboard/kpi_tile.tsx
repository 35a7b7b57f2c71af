/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import { Definition } from "./definition.tsx";
import { Icon } from "./icons.tsx";
import { change as changeText, NOTHING, points } from "./number_format.ts";

interface ChangeProps {
  /** A fraction of what it was, or of a rate the difference; null: there is nothing to compare with. */
  readonly value: number | null;
  /** Rates change in points, all else in percent. */
  readonly isRate?: boolean;
  /** A rise is bad news, as of the bounce rate. */
  readonly isDownGood?: boolean;
  /** What it was before, and when, for who hovers. */
  readonly title?: string;
}

/** A change as arrow, sign and colour. */
export function Change({ value, isRate = false, isDownGood = false, title }: ChangeProps) {
  if (value === null) return <span class="change change-none" title={title}>–</span>;
  const tone = value === 0 ? "none" : (value > 0) !== isDownGood ? "good" : "bad";
  return (
    <span class={`change change-${tone}`} title={title}>
      {value !== 0 && <Icon name={value > 0 ? "up" : "fall"} size={12} />}
      {isRate ? points(value) : changeText(value)}
    </span>
  );
}

interface KpiTileProps {
  readonly label: string;
  readonly definition: string;
  /** As it is shown; null: not known yet. */
  readonly value: ComponentChildren;
  /** Undefined: nothing is compared; null: there was nothing before, or 0. */
  readonly change?: number | null | undefined;
  /** What it was before, as it is shown. */
  readonly previous?: string | undefined;
  /** The figure is a rate: its change is a difference, told in points. */
  readonly isRate?: boolean;
  readonly isDownGood?: boolean;
  readonly isSelected?: boolean;
  readonly onSelect?: (() => void) | undefined;
  /** The way to those whom it counts. */
  readonly who?: ComponentChildren;
}

/** Tells the style sheet how many characters a figure has: it is as large as they have room for. */
function tellLength(figure: HTMLElement | null): void {
  figure?.style.setProperty("--length", String(figure.textContent.length));
}

function Figures(props: KpiTileProps) {
  const { label, value, change, previous, isRate = false, isDownGood = false } = props;
  return (
    <>
      <span class="tile-label">{label}</span>
      <span class="tile-value">
        {value == null
          ? <span class="skeleton-row tile-skeleton" aria-hidden="true" />
          // Another function each time, so that each new value is measured.
          : <span class="tile-figure" ref={(figure) => tellLength(figure)}>{value}</span>}
      </span>
      <span class="tile-change">
        {change !== undefined && change !== null && (
          <Change value={change} isRate={isRate} isDownGood={isDownGood} />
        )}
        {previous !== undefined && (
          <span class="tile-previous">
            {previous === NOTHING ? "no earlier data" : `from ${previous}`}
          </span>
        )}
      </span>
    </>
  );
}

/** One figure, loud, with its change and its definition; a click may choose it for the chart. */
export function KpiTile(props: KpiTileProps) {
  const { label, definition, isSelected = false, onSelect, who } = props;
  return (
    <div class={`tile ${isSelected ? "tile-selected" : ""}`}>
      {onSelect === undefined
        ? (
          <div class="tile-face">
            <Figures {...props} />
          </div>
        )
        : (
          <button type="button" class="tile-face" aria-pressed={isSelected} onClick={onSelect}>
            <Figures {...props} />
          </button>
        )}
      <Definition of={label} text={definition} />
      {who && <span class="tile-who">{who}</span>}
    </div>
  );
}
