/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import type { NumberOf } from "./behind_words.ts";
import type { Filter, RangeChoice } from "./location_query.ts";
import { currentDates, filters as chosenFilters, hrefFor } from "./location_state.ts";
import { SHARE_ID } from "./share.ts";
import { ViewLink } from "./view_link.tsx";

interface BehindProps {
  /** Where those are listed who make up the number. */
  readonly view: "visits" | "people";
  /** What tells them from others, beside the bar's filters. */
  readonly filters?: readonly Filter[];
  /** Where it is not the bar's. */
  readonly range?: RangeChoice;
  readonly params?: Readonly<Record<string, string | null>>;
  /** The number as the API names it, where filters cannot tell whom it counts. */
  readonly number?: NumberOf;
  /** What the number counts, in words: "visits from Email". */
  readonly of: string;
  /** The number as it is shown. */
  readonly children: ComponentChildren;
  /** The children are a drawing, which has no name of its own. */
  readonly isDrawing?: boolean;
  /** False: the number tells of nobody, or of more than is stored. */
  readonly isTold?: boolean;
  /** False: it counts what those did, and not how many they are. */
  readonly isTheirs?: boolean;
  /** Reached by another way than the tabulator. */
  readonly isAside?: boolean;
}

/** A condition for what has this value; null: for what has none. */
export function hasValue(field: string, value: string | null): Filter {
  return value === null
    ? { field, op: "not_exists", values: [] }
    : { field, op: "is", values: [value] };
}

/** Longer addresses are no links: they would be refused. */
const HREF_LENGTH_MAX = 8_000;

/** A number that leads to whoever it counts: as many as are listed there, unless `isTheirs` is false. */
export function Behind(props: BehindProps) {
  const { view, filters = [], range, number, of, children } = props;
  const { isTold = true, isDrawing = false, isTheirs = true, isAside = false } = props;
  const to = {
    view,
    filters: [...chosenFilters.value, ...filters],
    ...range === undefined ? {} : { range },
    ...props.params === undefined ? {} : { params: props.params },
    // What was counted in a range stays that of its days, whatever today is.
    ...number === undefined
      ? {}
      : { range: currentDates(), params: { of: JSON.stringify(number) } },
  };
  if (SHARE_ID !== null || !isTold || hrefFor(to).length > HREF_LENGTH_MAX) return <>{children}</>;
  return (
    <ViewLink
      class={isTheirs && !isDrawing ? "behind behind-count" : "behind"}
      to={to}
      title={`Who are these? ${of}`}
      label={isDrawing ? `Who are these? ${of}` : undefined}
      isAside={isAside}
    >
      {children}
    </ViewLink>
  );
}
