/// <reference lib="dom" />
import { Button } from "./button.tsx";
import type { ComponentChildren } from "preact";
import type { IconName } from "./icons.tsx";
import { filters, go, segment } from "./location_state.ts";
import { EmptyNote } from "./panel.tsx";

interface EmptyListProps {
  readonly icon: IconName;
  /** The start of "No visits in this range". */
  readonly none: string;
  /** The start of "No visit fits these filters". */
  readonly noneFits: string;
  /** Further parameters of the address that narrow the list, with null: they are removed too. */
  readonly narrowing?: Readonly<Record<string, string | null>>;
  /** What to do if only the range is the reason. */
  readonly children: ComponentChildren;
}

/** Says that a list is empty, and offers to remove what narrows it. */
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
      <Button onClick={() => go({ filters: [], segment: null, params })}>Take {what} away</Button>
    </EmptyNote>
  );
}
