/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import type { IconName } from "./icons.tsx";
import { filters, go, segment } from "./location_state.ts";
import { EmptyNote } from "./panel.tsx";

interface EmptyListProps {
  readonly icon: IconName;
  /** Such as "No visits": in this range. */
  readonly none: string;
  /** Such as "No visit fits": these filters. */
  readonly noneFits: string;
  /** What of the address narrows the list, too, and is to be taken out. */
  readonly narrowing?: Readonly<Record<string, string | null>>;
  /** What to do where the range alone is the reason. */
  readonly children: ComponentChildren;
}

/** That a list is empty, and the way out: without what narrows it, or with another range. */
export function EmptyList({ icon, none, noneFits, narrowing = {}, children }: EmptyListProps) {
  const names = Object.keys(narrowing).filter((name) => narrowing[name] !== null);
  const isOfSegment = segment.value !== null;
  if (!isOfSegment && filters.value.length + names.length === 0) {
    return <EmptyNote title={`${none} in this range`} icon={icon}>{children}</EmptyNote>;
  }
  const what = isOfSegment ? "the segment and the filters" : "these filters";
  const params = Object.fromEntries(names.map((name) => [name, null]));
  return (
    <EmptyNote title={`${noneFits} ${what}`} icon={icon}>
      <button
        type="button"
        class="button"
        onClick={() => go({ filters: [], segment: null, params })}
      >
        Take {what} away
      </button>
    </EmptyNote>
  );
}
