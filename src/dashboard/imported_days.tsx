/// <reference lib="dom" />
import type { output } from "zod";
import type { Warning } from "../query/warnings.ts";
import type { ImportedShown } from "../reports/imported/imported_span.ts";
import { counted, dateSpan } from "./number_format.ts";

type Told = output<typeof ImportedShown>;

/** A reply that may include imported days, or leave them out. */
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

/** Marks a figure that includes imported sums. */
export function ImportedMark() {
  return (
    <span class="imported-mark" title="Daily sums that were imported from another product">
      imported
    </span>
  );
}

/** Says in a panel that it lacks imported days, which do not have the field that it is split by. */
export function UntoldNote({ query: { warnings = [] } }: MayBeImported) {
  const untold = warnings.find(({ code, parameter }) =>
    code === "imported_left_out" && parameter === "by"
  );
  return untold === undefined ? null : <p class="imported-untold">{untold.message}</p>;
}

/** Says which days are imported and how their visitors count, or why none are shown. */
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
