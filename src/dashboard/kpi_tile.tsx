/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import { Definition } from "./definition.tsx";
import { Icon } from "./icons.tsx";
import { change as changeText, NOTHING, points } from "./number_format.ts";

interface ChangeProps {
  /** The change as a fraction, or as a difference for a rate; null: there is nothing to compare with. */
  readonly value: number | null;
  /** Shown in percentage points, not in percent. */
  readonly isRate?: boolean;
  /** A rise is bad, as for the bounce rate. */
  readonly isDownGood?: boolean;
  /** The earlier value and its dates, shown on hover. */
  readonly title?: string;
}

/** A change with an arrow, a sign and a colour. */
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
  /** The earlier value, as it is shown. */
  readonly previous?: string | undefined;
  /** The figure is a rate: its change is a difference, in percentage points. */
  readonly isRate?: boolean;
  readonly isDownGood?: boolean;
  readonly isSelected?: boolean;
  readonly onSelect?: (() => void) | undefined;
  /** The link to those whom it counts. */
  readonly who?: ComponentChildren;
}

/** Sets a figure's length in characters for the style sheet, which picks the largest size that fits. */
function setLength(figure: HTMLElement | null): void {
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
          // A new function each time, so that each value is measured.
          : <span class="tile-figure" ref={(figure) => setLength(figure)}>{value}</span>}
      </span>
      <span class="tile-change">
        {change !== undefined && change !== null && (
          <Change value={change} isRate={isRate} isDownGood={isDownGood} />
        )}
        {previous !== undefined && (
          <span class="tile-previous muted">
            {previous === NOTHING ? "no earlier data" : `from ${previous}`}
          </span>
        )}
      </span>
    </>
  );
}

interface TileProps extends Pick<KpiTileProps, "label" | "definition" | "onSelect" | "who"> {
  readonly isSelected?: boolean | undefined;
  readonly children: ComponentChildren;
}

/** The frame of a figure with its definition; a click may choose it for the chart. */
export function Tile(
  { label, definition, isSelected = false, onSelect, who, children }: TileProps,
) {
  return (
    <div class={`tile ${isSelected ? "tile-selected" : ""}`}>
      {onSelect === undefined
        ? <div class="tile-face">{children}</div>
        : (
          <button type="button" class="tile-face" aria-pressed={isSelected} onClick={onSelect}>
            {children}
          </button>
        )}
      <Definition of={label} text={definition} />
      {who && <span class="tile-who">{who}</span>}
    </div>
  );
}

/** A key figure with its change. */
export function KpiTile(props: KpiTileProps) {
  return (
    <Tile {...props}>
      <Figures {...props} />
    </Tile>
  );
}
