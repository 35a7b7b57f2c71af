/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "./icons.tsx";

/** The attributes that connect a control with its label, hint and error. */
export interface ControlProps {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": boolean | undefined;
}

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  /** What is wrong with the value; null: nothing. */
  readonly error?: string | null | undefined;
  /** The label is only for screen readers, as in rows of similar controls. */
  readonly isLabelHidden?: boolean | undefined;
  readonly children: (control: ControlProps) => ComponentChildren;
}

/** A control with its label, hint and error. */
export function Field({ label, hint, error, isLabelHidden = false, children }: FieldProps) {
  const id = useId();
  const described = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id} class={isLabelHidden ? "visually-hidden" : "field-label"}>{label}</label>
      {children({
        id,
        "aria-describedby": described || undefined,
        "aria-invalid": error ? true : undefined,
      })}
      {error && <p id={`${id}-error`} class="field-error" role="alert">{error}</p>}
      {hint && <p id={`${id}-hint`} class="field-hint">{hint}</p>}
    </div>
  );
}

interface ValueField<T> extends Omit<FieldProps, "children"> {
  readonly value: T;
  readonly onChange: (value: T) => void;
}

interface TextFieldProps extends ValueField<string> {
  readonly type?: "text" | "number" | "url" | "date" | "email" | "password";
  /** What browsers and password managers may fill in, such as `username`; default: nothing. */
  readonly autocomplete?: string;
  /** It has the focus first. */
  readonly isFirst?: boolean;
  readonly isReadOnly?: boolean;
  readonly placeholder?: string;
  readonly isRequired?: boolean;
  readonly maxLength?: number;
  readonly min?: string;
  readonly max?: string;
  /** Values to choose from; others may be typed too. */
  readonly suggestions?: readonly string[] | undefined;
  readonly onFocus?: () => void;
}

/** Focuses a control when it appears. */
function useFirst(isFirst = false) {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (isFirst) input.current?.focus();
  }, []);
  return input;
}

/** One line of text, a number or a date, optionally with suggestions. */
export function TextField(props: TextFieldProps) {
  const { type = "text", value, onChange, suggestions, isRequired, ...rest } = props;
  const { placeholder, maxLength, min, max, onFocus, isReadOnly, ...others } = rest;
  const { autocomplete = "off", isFirst, ...field } = others;
  const listId = useId();
  const input = useFirst(isFirst);
  return (
    <Field {...field}>
      {(control) => (
        <>
          <input
            {...control}
            ref={input}
            class="input"
            type={type as "text"}
            value={value}
            placeholder={placeholder}
            required={isRequired}
            readOnly={isReadOnly}
            maxLength={maxLength}
            min={min}
            max={max}
            step={type === "number" ? "any" : undefined}
            list={suggestions === undefined ? undefined : listId}
            autocomplete={autocomplete as "off"}
            spellcheck={false}
            onFocus={onFocus}
            onInput={(event) => onChange(event.currentTarget.value)}
          />
          {suggestions !== undefined && (
            <datalist id={listId}>
              {suggestions.map((each) => <option key={each} value={each} />)}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
}

interface LinesFieldProps extends ValueField<string> {
  /** How many lines are visible. */
  readonly rows?: number;
}

/** Several lines of text, such as one address a line. */
export function LinesField({ value, onChange, rows = 2, ...field }: LinesFieldProps) {
  return (
    <Field {...field}>
      {(control) => (
        <textarea
          {...control}
          class="input"
          rows={rows}
          spellcheck={false}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface PasswordFieldProps extends ValueField<string> {
  readonly autocomplete: "current-password" | "new-password" | "off";
  readonly isFirst?: boolean;
}

/** A password, which can be shown as it is typed. */
export function PasswordField(props: PasswordFieldProps) {
  const { value, onChange, autocomplete, isFirst, ...field } = props;
  const [isShown, setShown] = useState(false);
  const input = useFirst(isFirst);
  return (
    <Field {...field}>
      {(control) => (
        <span class="password">
          <input
            {...control}
            ref={input}
            class="input"
            type={(isShown ? "text" : "password") as "password"}
            value={value}
            autocomplete={autocomplete}
            autocapitalize="none"
            spellcheck={false}
            onInput={(event) => onChange(event.currentTarget.value)}
          />
          <button
            type="button"
            class="password-show"
            aria-pressed={isShown}
            aria-label={`Show: ${field.label}`}
            title={isShown ? "Hide it" : "Show it"}
            onClick={() => setShown(!isShown)}
          >
            <Icon name={isShown ? "unseen" : "eye"} size={18} />
          </button>
        </span>
      )}
    </Field>
  );
}

export interface Choice {
  readonly value: string;
  readonly label: string;
  /** The heading of its group; choices of a group are adjacent. */
  readonly group?: string;
  /** Shown instead of the label where choices are side by side. */
  readonly icon?: IconName;
}

interface SelectFieldProps extends ValueField<string> {
  readonly choices: readonly Choice[];
}

function Options({ choices }: { choices: readonly Choice[] }) {
  const groups = [...Map.groupBy(choices, ({ group }) => group)];
  return (
    <>
      {groups.map(([group, members]) => {
        const options = members.map((each) => (
          <option key={each.value} value={each.value}>{each.label}</option>
        ));
        return group === undefined
          ? options
          : <optgroup key={group} label={group}>{options}</optgroup>;
      })}
    </>
  );
}

/** One of a few choices. */
export function SelectField({ value, onChange, choices, ...field }: SelectFieldProps) {
  return (
    <Field {...field}>
      {(control) => (
        <select
          {...control}
          class="input select"
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          <Options choices={choices} />
        </select>
      )}
    </Field>
  );
}

interface CheckFieldProps {
  readonly label: string;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}

/** A box to tick. */
export function CheckField({ label, isChecked, onChange }: CheckFieldProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isChecked}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      {label}
    </label>
  );
}

interface CheckListProps {
  readonly legend: string;
  readonly choices: readonly Choice[];
  readonly chosen: readonly string[];
  /** Called with what is chosen now, in the order of the choices. */
  readonly onChange: (chosen: readonly string[]) => void;
  readonly hint?: string;
  readonly error?: string | null | undefined;
}

/** Choices to tick, any number of which are chosen. */
export function CheckList(props: CheckListProps) {
  const { legend, choices, chosen, onChange, hint, error } = props;
  const toggled = (toggledValue: string, isChecked: boolean) =>
    choices.map(({ value }) => value)
      .filter((value) => value === toggledValue ? isChecked : chosen.includes(value));
  return (
    <fieldset class="choice-list">
      <legend class="field-label">{legend}</legend>
      <div class="choice-boxes">
        {choices.map(({ value, label }) => (
          <CheckField
            key={value}
            label={label}
            isChecked={chosen.includes(value)}
            onChange={(isChecked) => onChange(toggled(value, isChecked))}
          />
        ))}
      </div>
      {hint && <p class="field-hint">{hint}</p>}
      {error && <p class="field-error" role="alert">{error}</p>}
    </fieldset>
  );
}

interface SegmentsProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly Choice[];
  readonly onChange: (value: string) => void;
}

/** A few choices side by side, one of which is selected. */
export function Segments({ label, value, choices, onChange }: SegmentsProps) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {choices.map((each) => (
        <button
          key={each.value}
          type="button"
          class="segment"
          aria-label={each.icon && each.label}
          title={each.icon && each.label}
          aria-pressed={each.value === value}
          onClick={() => onChange(each.value)}
        >
          {each.icon ? <Icon name={each.icon} /> : each.label}
        </button>
      ))}
    </div>
  );
}
