/// <reference lib="dom" />
import { Button } from "./button.tsx";
import { useState } from "preact/hooks";
import { Dialog, DialogButtons, DialogOpener } from "./dialog.tsx";
import { FilterEditor, isWhole } from "./filter_editor.tsx";
import { filterText } from "./filter_fields.ts";
import { FIRST_FILTER } from "./filter_list.tsx";
import { Icon } from "./icons.tsx";
import type { Filter } from "./location_query.ts";
import { filters, go, removeFilter } from "./location_state.ts";
import { NeverSeen, withValueReplaced } from "./never_seen.tsx";
import { forcedFilters } from "./share.ts";

interface FilterDialogProps {
  readonly title: string;
  readonly filter: Filter;
  readonly onSave: (filter: Filter) => void;
  readonly onClose: () => void;
}

function FilterDialog({ title, filter, onSave, onClose }: FilterDialogProps) {
  const [draft, setDraft] = useState(filter);
  const save = () => {
    onSave(draft);
    onClose();
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <DialogButtons onCancel={onClose} isDisabled={!isWhole(draft)} onDo={save}>
          Apply
        </DialogButtons>
      }
    >
      <FilterEditor filter={draft} onChange={setDraft} isLive />
    </Dialog>
  );
}

/** The button that adds a filter. */
export function AddFilter() {
  return (
    <DialogOpener
      icon="filter"
      class="bar-filter"
      dialog={(onClose) => (
        <FilterDialog
          title="Add a filter"
          filter={FIRST_FILTER}
          onSave={(added) => go({ filters: [...filters.peek(), added] })}
          onClose={onClose}
        />
      )}
    >
      Filter
    </DialogOpener>
  );
}

/** Says which of the filters' values never occurred. */
export function FilterHints() {
  const all = filters.value;
  return (
    <NeverSeen
      filters={all}
      onReplace={(field, value, by) => go({ filters: withValueReplaced(all, field, value, by) })}
    />
  );
}

/** The active filters: a click edits one, its cross removes it. */
export function FilterChips() {
  const [edited, setEdited] = useState<number | null>(null);
  const all = filters.value;
  const forced = forcedFilters.value;
  if (all.length + forced.length === 0) return null;
  return (
    <ul class="chips" aria-label="Filters">
      {forced.map((filter, i) => (
        <li key={`forced ${i}`} class="chip chip-forced">
          <Icon name="key" size={12} /> {filterText(filter)}
          <span class="visually-hidden">, always</span>
        </li>
      ))}
      {all.map((filter, i) => (
        <li key={i} class="chip-group">
          <button type="button" class="chip chip-text" onClick={() => setEdited(i)}>
            {filterText(filter)}
          </button>
          <button
            type="button"
            class="chip chip-close"
            aria-label={`Remove the filter ${filterText(filter)}`}
            onClick={() => removeFilter(i)}
          >
            <Icon name="close" size={12} />
          </button>
        </li>
      ))}
      {all.length > 1 && (
        <li>
          <Button kind="quiet" onClick={() => go({ filters: [] })}>Clear all</Button>
        </li>
      )}
      {edited !== null && all[edited] && (
        <FilterDialog
          title="Change the filter"
          filter={all[edited]}
          onSave={(filter) => go({ filters: filters.peek().with(edited, filter) })}
          onClose={() => setEdited(null)}
        />
      )}
    </ul>
  );
}
