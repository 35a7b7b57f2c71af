/// <reference lib="dom" />
import { FilterEditor } from "../filter_editor.tsx";
import { IconButton } from "../icon_button.tsx";
import type { Filter } from "../location_query.ts";

const FIRST_FILTER: Filter = { field: "path", op: "is", values: [] };

interface FilterListProps {
  readonly filters: readonly Filter[];
  readonly error: string | null | undefined;
  /** Shown below the conditions, if there are any. */
  readonly hint?: string;
  readonly onChange: (filters: readonly Filter[]) => void;
}

/** Conditions on what is reported or shared. */
export function FilterList({ filters, error, hint, onChange }: FilterListProps) {
  return (
    <fieldset class="choice-list share-filters">
      <legend class="field-label">Only what fulfils</legend>
      {filters.map((filter, i) => (
        <FilterEditor
          key={i}
          filter={filter}
          isLabelHidden
          onChange={(changed) => onChange(filters.map((each, j) => i === j ? changed : each))}
          onRemove={() => onChange(filters.filter((_, j) => j !== i))}
        />
      ))}
      <IconButton icon="plus" kind="quiet" onClick={() => onChange([...filters, FIRST_FILTER])}>
        Condition
      </IconButton>
      {hint && filters.length > 0 && <p class="field-hint">{hint}</p>}
      {error && <p class="field-error" role="alert">{error}</p>}
    </fieldset>
  );
}
