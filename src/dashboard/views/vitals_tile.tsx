/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import { Tile } from "../kpi_tile.tsx";
import { integer, percent } from "../number_format.ts";
import { RATINGS, type Vital, type VITALS, vitalText } from "./vitals_words.ts";

interface VitalTileProps {
  readonly words: typeof VITALS[number];
  readonly vital: Vital;
  readonly isSelected: boolean;
  readonly onSelect: () => void;
  /** A link to those for whom it was poor. */
  readonly who: ComponentChildren;
}

/** How many page views were good, in need of improvement and poor: a bar, and the same in words. */
function Shares({ vital: { good, needsImprovement, poor } }: { vital: Vital }) {
  const parts = [
    { rating: "good", rate: good },
    { rating: "needs-improvement", rate: needsImprovement },
    { rating: "poor", rate: poor },
  ] as const;
  const text = parts.map(({ rating, rate }) =>
    `${percent(rate.value, 0)} ${RATINGS[rating].toLowerCase()}`
  ).join(", ");
  return (
    <>
      <span class="vitals-shares" title={`${text}, of ${integer(good.denominator)}`}>
        {parts.map(({ rating, rate }) => (
          <span
            key={rating}
            class={`vitals-share vitals-${rating}`}
            style={{ flexGrow: rate.numerator }}
          />
        ))}
      </span>
      <span class="visually-hidden">{text}</span>
    </>
  );
}

/** One vital: its percentile, how good that is, and how the page views share out. */
export function VitalTile({ words, vital, ...tile }: VitalTileProps) {
  const { rating, p75, good } = vital;
  return (
    <Tile label={words.title} definition={words.definition} {...tile}>
      <span class="tile-label">{words.title}</span>
      <span class="tile-value">{vitalText(words.name, p75)}</span>
      {rating === null ? <span class="tile-previous muted small">Not measured</span> : (
        <>
          <span class={`vitals-rating small vitals-${rating}`}>{RATINGS[rating]}</span>
          <Shares vital={vital} />
          <span class="tile-previous muted small">{percent(good.value, 0)} good</span>
        </>
      )}
    </Tile>
  );
}
