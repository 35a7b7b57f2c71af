/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import { Button } from "./button.tsx";
import { FilterEditor } from "./filter_editor.tsx";
import type { Filter } from "./location_query.ts";

interface FilterListProps {
  readonly filters: readonly Filter[];
  /** What another one begins with. */
  readonly first?: Filter;
  /** Whose properties and values are suggested; null: any event's. */
  readonly event?: string | null;
  /** Null: none can be added. */
  readonly addText?: string | null;
  readonly onChange: (filters: readonly Filter[]) => void;
  /** Shown between the conditions and the button for another one. */
  readonly children?: ComponentChildren;
}

/** The new condition of most lists. */
export const FIRST_FILTER: Filter = { field: "path", op: "is", values: [] };

/** Conditions, each to be changed or removed, and a button for another one. */
export function FilterList(props: FilterListProps) {
  const { filters, first = FIRST_FILTER, event = null, addText = "Condition", onChange } = props;
  return (
    <>
      {filters.map((filter, i) => (
        <FilterEditor
          key={i}
          {...{ filter, event }}
          isLabelHidden
          onChange={(changed) => onChange(filters.with(i, changed))}
          onRemove={() => onChange(filters.filter((_, j) => j !== i))}
        />
      ))}
      {props.children}
      {addText !== null && (
        <Button
          icon="plus"
          kind="quiet"
          onClick={() => onChange([...filters, first])}
        >
          {addText}
        </Button>
      )}
    </>
  );
}
