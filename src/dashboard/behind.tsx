/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import type { NumberOf } from "./behind_words.ts";
import type { Filter, RangeChoice } from "./location_query.ts";
import { currentDates, filters as chosenFilters, hrefFor } from "./location_state.ts";
import { SHARE_ID } from "./share.ts";
import { ViewLink } from "./view_link.tsx";

interface BehindProps {
  /** The view that lists those whom the number counts. */
  readonly view: "visits" | "people";
  /** What selects them, besides the bar's filters. */
  readonly filters?: readonly Filter[];
  /** Their range; default: the bar's. */
  readonly range?: RangeChoice;
  readonly params?: Readonly<Record<string, string | null>>;
  /** The number as the API's `of` describes it, if filters cannot select those whom it counts. */
  readonly number?: NumberOf;
  /** What the number counts, in words: "visits from Email". */
  readonly of: string;
  /** The number as it is shown. */
  readonly children: ComponentChildren;
  /** The children are a drawing, which has no accessible name of its own. */
  readonly isDrawing?: boolean;
  /** False: no link, as the number counts nobody, or events that are not stored. */
  readonly isLinked?: boolean;
  /** False: it counts what they did, so that their list has another length. */
  readonly isTheirs?: boolean;
  /** Reached by other keys than Tab. */
  readonly isOutsideTabOrder?: boolean;
}

/** Servers may refuse longer addresses: such numbers are not links. */
const HREF_LENGTH_MAX = 8_000;

/** A number that links to the list of those whom it counts. */
export function Behind(props: BehindProps) {
  const { view, filters = [], range, number, of, children } = props;
  const { isLinked = true, isDrawing = false, isTheirs = true, isOutsideTabOrder = false } = props;
  const to = {
    view,
    filters: [...chosenFilters.value, ...filters],
    ...range === undefined ? {} : { range },
    ...props.params === undefined ? {} : { params: props.params },
    // The dates of the count, as a preset such as today would move.
    ...number === undefined
      ? {}
      : { range: currentDates(), params: { of: JSON.stringify(number) } },
  };
  if (SHARE_ID !== null || !isLinked || hrefFor(to).length > HREF_LENGTH_MAX) {
    return <>{children}</>;
  }
  return (
    <ViewLink
      class={isTheirs && !isDrawing ? "behind behind-count" : "behind"}
      to={to}
      title={`Who are these? ${of}`}
      label={isDrawing ? `Who are these? ${of}` : undefined}
      isOutsideTabOrder={isOutsideTabOrder}
    >
      {children}
    </ViewLink>
  );
}
