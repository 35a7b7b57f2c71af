/// <reference lib="dom" />

/** The colour of a line in a chart, by its place among the lines. */
export function Swatch({ colour }: { colour: number | "comparison" }) {
  return (
    <span
      class={`swatch swatch-${colour}`}
      style={{ background: `var(--chart-${colour})` }}
    />
  );
}
