/// <reference lib="dom" />
import type { output } from "zod";
import type { Warning } from "../query/warnings.ts";
import type { ImportedShown } from "../reports/imported/imported_span.ts";
import { counted, dateSpan } from "./number_format.ts";

type Told = output<typeof ImportedShown>;

/** A reply that may hold imported days, or leave them out. */
export interface MayBeImported {
  readonly query: {
    readonly imported?: Told;
    readonly warnings?: readonly output<typeof Warning>[];
  };
}

const NAMES: Readonly<Record<string, string>> = {
  plausible: "Plausible",
  fathom: "Fathom",
  goatcounter: "GoatCounter",
};

/** `Plausible and Fathom`. */
function sourcesText({ sources }: Pick<Told, "sources">): string {
  return new Intl.ListFormat("en").format(sources.map((source) => NAMES[source] ?? source));
}

/** Stands beside what holds imported sums. */
export function ImportedMark() {
  return (
    <span class="imported-mark" title="Daily sums that were imported from another product">
      imported
    </span>
  );
}

/** In a panel: that imported days do not tell what it is split by, where others of the page do show them. */
export function UntoldNote({ query: { warnings = [] } }: MayBeImported) {
  const untold = warnings.find(({ code, parameter }) =>
    code === "imported_left_out" && parameter === "by"
  );
  return untold === undefined ? null : <p class="imported-untold">{untold.message}</p>;
}

/** Which days are imported, and what their visitors are; or why there are none. */
export function ImportedNote({ query }: MayBeImported) {
  const { imported, warnings = [] } = query;
  const leftOut = warnings.filter(({ code }) => code === "imported_left_out");
  if (imported === undefined && leftOut.length === 0) return null;
  return (
    <div class="imported-note" role="note">
      {imported !== undefined && (
        <p>
          <span class="swatch swatch-imported" /> {counted(imported.days, "day")} imported from{" "}
          {sourcesText(imported)}{" "}
          ({dateSpan(imported.from, imported.to)}), before the first event of this project. Visitors
          of these days are the sum of each day’s visitors.
        </p>
      )}
      {leftOut.map(({ message }) => <p key={message}>{message}</p>)}
    </div>
  );
}
