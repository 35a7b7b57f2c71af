/// <reference lib="dom" />
import { FilterList } from "../filter_list.tsx";
import type { Filter } from "../location_query.ts";

interface FilterFieldsProps {
  readonly filters: readonly Filter[];
  readonly error: string | null | undefined;
  /** Shown below the conditions, if there are any. */
  readonly hint?: string;
  readonly onChange: (filters: readonly Filter[]) => void;
}

/** Conditions on what is reported or shared. */
export function FilterFields({ filters, error, hint, onChange }: FilterFieldsProps) {
  return (
    <fieldset class="choice-list share-filters">
      <legend class="field-label">Only what fulfils</legend>
      <FilterList filters={filters} onChange={onChange} />
      {hint && filters.length > 0 && <p class="field-hint">{hint}</p>}
      {error && <p class="field-error" role="alert">{error}</p>}
    </fieldset>
  );
}
