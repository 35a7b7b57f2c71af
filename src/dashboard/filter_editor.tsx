/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { type Choice, Field, SelectField, TextField } from "./field.tsx";
import { fieldLabel, FIELDS, isProperty, isValueless, opsOf, valueLabel } from "./filter_fields.ts";
import { Icon } from "./icons.tsx";
import type { Filter } from "./location_query.ts";
import { useFieldValues, usePropertyKeys } from "./suggestions.ts";

const PROPERTY = "properties.";
const FIELD_CHOICES: readonly Choice[] = [
  ...FIELDS.map(({ field, label, group }) => ({ value: field, label, group })),
  { value: PROPERTY, label: "Property…", group: "Event" },
].toSorted((a, b) => Number(a.group !== "Event") - Number(b.group !== "Event"));

/** True where the filter says all that the API needs. */
export function isWhole({ field, op, values }: Filter): boolean {
  return field !== PROPERTY && (isValueless(op) || values.length > 0);
}

interface ValuesProps {
  readonly filter: Filter;
  /** Whose values are suggested; null: any event's. */
  readonly event: string | null;
  readonly onChange: (filter: Filter) => void;
  readonly isLabelHidden: boolean;
}

/** A field for one more value, which Enter or leaving it adds, and the chosen ones as chips. */
function Values({ filter, event, onChange, isLabelHidden }: ValuesProps) {
  const { field, values } = filter;
  const [draft, setDraft] = useState("");
  const suggestions = useFieldValues(field === PROPERTY ? null : field, event);
  const add = (text: string) => {
    const value = text.trim();
    setDraft("");
    if (value !== "" && !values.includes(value)) {
      onChange({ ...filter, values: [...values, value] });
    }
  };
  return (
    <div
      class="filter-values"
      onKeyDown={(pressed) => {
        if (pressed.key !== "Enter" || draft.trim() === "") return;
        pressed.preventDefault();
        add(draft);
      }}
      onFocusOut={() => add(draft)}
    >
      <TextField
        label="Value"
        isLabelHidden={isLabelHidden}
        value={draft}
        placeholder={values.length === 0 ? "Value" : "or…"}
        suggestions={suggestions.filter((each) => !values.includes(each))}
        suggestionLabel={(value) => valueLabel(field, value)}
        // A suggestion that was picked is whole; the browser tells it as one input.
        onChange={(text) => suggestions.includes(text) ? add(text) : setDraft(text)}
      />
      {values.length > 0 && (
        <div class="chips">
          {values.map((value, i) => (
            <button
              key={String(value)}
              type="button"
              class="chip"
              aria-label={`Remove ${valueLabel(field, value)}`}
              onClick={() => onChange({ ...filter, values: values.filter((_, j) => j !== i) })}
            >
              {valueLabel(field, value)} <Icon name="close" size={12} />
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

interface FilterEditorProps {
  readonly filter: Filter;
  readonly onChange: (filter: Filter) => void;
  /** Takes the whole filter away. */
  readonly onRemove?: () => void;
  /** Whose properties and values are suggested; null: any event's. */
  readonly event?: string | null;
  readonly isLabelHidden?: boolean;
}

/** One condition: a field, an operator and values. */
export function FilterEditor(props: FilterEditorProps) {
  const { filter, onChange, onRemove, event = null, isLabelHidden = false } = props;
  const { field, op, values } = filter;
  const keys = usePropertyKeys(event);
  const choose = (next: string) =>
    onChange({
      field: next,
      op: opsOf(next).some((each) => each.op === op) ? op : "is",
      values: [],
    });
  return (
    <div class="filter-editor">
      <SelectField
        label="Field"
        isLabelHidden={isLabelHidden}
        value={isProperty(field) ? PROPERTY : field}
        choices={FIELD_CHOICES}
        onChange={choose}
      />
      {isProperty(field) && (
        <TextField
          label="Property"
          isLabelHidden={isLabelHidden}
          value={fieldLabel(field)}
          placeholder="plan"
          suggestions={keys}
          onChange={(key) => onChange({ field: PROPERTY + key, op, values })}
        />
      )}
      <SelectField
        label="Condition"
        isLabelHidden={isLabelHidden}
        value={op}
        choices={opsOf(field).map((each) => ({ value: each.op, label: each.label }))}
        onChange={(next) => onChange({ field, op: next, values: isValueless(next) ? [] : values })}
      />
      {isValueless(op)
        ? <Field label="Value" isLabelHidden>{() => <span class="muted">any value</span>}</Field>
        : <Values {...{ filter, event, onChange, isLabelHidden }} />}
      {onRemove && (
        <button
          type="button"
          class="button button-icon"
          aria-label={`Remove the condition on ${fieldLabel(field) || "a property"}`}
          onClick={onRemove}
        >
          <Icon name="close" />
        </button>
      )}
    </div>
  );
}
