/// <reference lib="dom" />
import { TextField } from "./field.tsx";
import { isWhole } from "./filter_editor.tsx";
import { filterText } from "./filter_fields.ts";
import { FilterList } from "./filter_list.tsx";
import type { Filter } from "./location_query.ts";
import { SHARE_ID } from "./share.ts";
import { useEventNames } from "./suggestions.ts";

/** Selects events, for funnels and goals. */
export interface EventMatch {
  /** Null: events of any name. */
  readonly name: string | null;
  readonly filters: readonly Filter[];
  readonly label?: string;
}

/** A match in words: "page_view where Page is /pricing". */
export function matchText({ name, filters, label }: EventMatch): string {
  if (label) return label;
  const conditions = filters.map(filterText).join(" and ");
  return `${name ?? "Any event"}${conditions === "" ? "" : ` where ${conditions}`}`;
}

/** The match for the API, without incomplete filters and an empty label. */
export function matchBody({ name, filters, label }: EventMatch): EventMatch {
  return { name, filters: filters.filter(isWhole), ...(label ? { label } : {}) };
}

interface MatchEditorProps {
  readonly value: EventMatch;
  readonly onChange: (match: EventMatch) => void;
  /** The label of the name field. */
  readonly label?: string;
  readonly error?: string | null | undefined;
}

/** Edits an event's name and filters. An empty name is any event. */
export function MatchEditor({ value, onChange, label = "Event", error }: MatchEditorProps) {
  const { name, filters } = value;
  const names = useEventNames();
  return (
    <div class="match-editor">
      <TextField
        label={label}
        value={name ?? ""}
        placeholder="Any event"
        maxLength={200}
        suggestions={names}
        error={error}
        onChange={(text) => onChange({ ...value, name: text === "" ? null : text })}
      />
      <FilterList
        filters={filters}
        event={name}
        addText={SHARE_ID === null ? "Condition" : null}
        onChange={(changed) => onChange({ ...value, filters: changed })}
      />
    </div>
  );
}
