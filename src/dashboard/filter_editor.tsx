/// <reference lib="dom" />
import { Button } from "./button.tsx";
import { useState } from "preact/hooks";
import { type Choice, Field, SelectField, TextField } from "./field.tsx";
import {
  fieldLabel,
  isProperty,
  isValueless,
  offeredFields,
  opsOf,
  PROPERTY,
  valueLabel,
} from "./filter_fields.ts";
import { Icon } from "./icons.tsx";
import type { Filter } from "./location_query.ts";
import { NeverSeen, withValueReplaced } from "./never_seen.tsx";
import { SHARE_ID } from "./share.ts";
import { useFieldValues, usePropertyKeys } from "./suggestions.ts";
import { isPathField, meantPath } from "../readable_path.ts";
import { meantValue } from "./value_names.ts";

const FIELD_CHOICES: readonly Choice[] = [
  ...offeredFields().map(({ field, label, group }) => ({ value: field, label, group })),
  ...SHARE_ID === null ? [{ value: PROPERTY, label: "Property…", group: "Event" }] : [],
].toSorted((a, b) => Number(a.group !== "Event") - Number(b.group !== "Event"));

/** Whether the filter is complete for the API. */
export function isWhole({ field, op, values }: Filter): boolean {
  return field !== PROPERTY && (isValueless(op) || values.length > 0);
}

interface ValuesProps {
  readonly filter: Filter;
  /** Whose values are suggested; null: any event's. */
  readonly event: string | null;
  readonly onChange: (filter: Filter) => void;
  readonly isLabelHidden: boolean;
  readonly isLive: boolean;
}

/** The text in the field for one more value, and the value that it means. */
interface Typed {
  readonly text: string;
  /** Null: none, or one that is chosen already. */
  readonly value: string | null;
}

const NOTHING_TYPED: Typed = { text: "", value: null };

function Chosen({ filter, values, onChange }: Pick<ValuesProps, "filter" | "onChange"> & {
  readonly values: Filter["values"];
}) {
  if (values.length === 0) return null;
  return (
    <div class="chips">
      {values.map((value) => (
        <button
          key={String(value)}
          type="button"
          class="chip"
          aria-label={`Remove ${valueLabel(filter.field, value)}`}
          onClick={() => onChange({ ...filter, values: filter.values.filter((v) => v !== value) })}
        >
          {valueLabel(filter.field, value)} <Icon name="close" size={12} />
        </button>
      ))}
    </div>
  );
}

/**
 * A field for one more value. Enter, or leaving the field, turns it into a chip.
 * If the editor is live, the filter has the value while it is typed, and leaving changes nothing.
 */
function Values({ filter, event, onChange, isLabelHidden, isLive }: ValuesProps) {
  const { field, op, values } = filter;
  const [typed, setTyped] = useState(NOTHING_TYPED);
  const known = useFieldValues(field === PROPERTY ? null : field, event);
  const isWhole = op === "is" || op === "is_not";
  const isPart = op !== "matches" && isPathField(field);
  const nameOf = (value: string) => isWhole || isPart ? valueLabel(field, value) : value;
  const chosen = values.filter((value) => value !== typed.value);
  const names = known.filter((each) => !chosen.includes(each)).map(nameOf);
  const meant = (text: string) => {
    if (isWhole) return meantValue(field, text, known);
    return isPart ? meantPath(text.trim(), known) : text.trim();
  };
  const type = (text: string) => {
    const value = meant(text);
    const isNew = isLive && value !== "" && !chosen.includes(value);
    setTyped({ text, value: isNew ? value : null });
    if (isLive) onChange({ ...filter, values: isNew ? [...chosen, value] : chosen });
  };
  const choose = (text: string) => {
    const value = meant(text);
    setTyped(NOTHING_TYPED);
    if (value !== "" && !values.includes(value)) {
      onChange({ ...filter, values: [...chosen, value] });
    }
  };
  return (
    <div
      class="filter-values"
      onKeyDown={(pressed) => {
        if (pressed.key !== "Enter" || typed.text.trim() === "") return;
        pressed.preventDefault();
        choose(typed.text);
      }}
      // A new chip would move the button that is being pressed from under the pointer.
      onFocusOut={() => isLive || choose(typed.text)}
    >
      <TextField
        label="Value"
        isLabelHidden={isLabelHidden}
        value={typed.text}
        placeholder={chosen.length === 0 ? "Value" : "or…"}
        suggestions={names}
        // A picked suggestion is complete: the browser reports one input, not one for each letter.
        onChange={(text) =>
          names.includes(text) && text.length > typed.text.length + 1 ? choose(text) : type(text)}
      />
      <Chosen filter={filter} values={chosen} onChange={onChange} />
      <NeverSeen
        filters={[{ ...filter, values: chosen }]}
        onReplace={(of, value, by) => {
          const [replaced] = withValueReplaced([filter], of, value, by);
          onChange(replaced!);
        }}
      />
    </div>
  );
}

interface FilterEditorProps {
  readonly filter: Filter;
  readonly onChange: (filter: Filter) => void;
  /** Removes the whole filter. */
  readonly onRemove?: () => void;
  /** Whose properties and values are suggested; null: any event's. */
  readonly event?: string | null;
  readonly isLabelHidden?: boolean;
  /** The filter changes with each letter of a value, not only when the field is left. */
  readonly isLive?: boolean;
}

/** One condition: a field, an operator and values. */
export function FilterEditor(props: FilterEditorProps) {
  const { filter, onChange, onRemove, event = null, isLabelHidden = false, isLive = false } = props;
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
        : <Values key={field} {...{ filter, event, onChange, isLabelHidden, isLive }} />}
      {onRemove && (
        <Button
          icon="close"
          kind="icon"
          aria-label={`Remove the condition on ${fieldLabel(field) || "a property"}`}
          onClick={onRemove}
        />
      )}
    </div>
  );
}
