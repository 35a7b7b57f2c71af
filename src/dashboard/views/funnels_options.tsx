/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import { Definition } from "../definition.tsx";
import { type Choice, SelectField, TextField } from "../field.tsx";
import { fieldLabel, FIELDS, isProperty, PROPERTY, splits } from "../filter_fields.ts";
import { Button } from "../button.tsx";
import { MatchEditor } from "../match_editor.tsx";
import { usePropertyKeys } from "../suggestions.ts";
import {
  byFault,
  EXCLUSIONS_MAX,
  type FunnelDefinition,
  type FunnelEntry,
  type FunnelOrder,
  NEW_EXCLUSION,
  WINDOW_UNITS,
  windowFault,
  windowParts,
} from "./funnels_definition.ts";
import { FUNNEL_WORDS } from "./funnels_words.ts";

interface OptionsProps {
  readonly value: FunnelDefinition;
  readonly onChange: (changes: Partial<FunnelDefinition>) => void;
}

const ORDERS: readonly Choice[] = [
  { value: "ordered", label: "In this order" },
  { value: "strict", label: "Strictly one after the other" },
  { value: "unordered", label: "In any order" },
];
const ENTRIES: readonly Choice[] = [
  { value: "any", label: "Furthest attempt" },
  { value: "first", label: "First attempt" },
];
const NO_BREAKDOWN: Choice = { value: "", label: "No breakdown" };
const BY_CHOICES: readonly Choice[] = [
  NO_BREAKDOWN,
  ...FIELDS.filter(({ field }) => splits(field)).map(({ field, label, group }) => ({
    value: field,
    label,
    group,
  })),
  { value: PROPERTY, label: "Property…", group: "Event" },
].toSorted((a, b) => rank(a.group) - rank(b.group));

function rank(group: string | undefined): number {
  return [undefined, "People", "Visit", "Event"].indexOf(group);
}

/** A field with its definition beside the label. */
function Defined(
  { of, text, children }: { of: string; text: string; children: ComponentChildren },
) {
  return (
    <div class="funnels-option">
      {children}
      <Definition of={of} text={text} />
    </div>
  );
}

function WindowFields({ value: { window }, onChange }: OptionsProps) {
  const { count, unit } = windowParts(window);
  return (
    <Defined of="Time to finish" text={FUNNEL_WORDS.window}>
      <div class="funnels-window">
        <TextField
          label="Time to finish"
          type="number"
          min="1"
          value={count}
          error={windowFault(window)}
          onChange={(text) => onChange({ window: text.trim() + unit })}
        />
        <SelectField
          label="Unit of time"
          isLabelHidden
          value={unit}
          choices={WINDOW_UNITS.map(({ value, label }) => ({
            value,
            label: count === "1" ? label.slice(0, -1) : label,
          }))}
          onChange={(next) => onChange({ window: count + next })}
        />
      </div>
    </Defined>
  );
}

function ByFields({ value: { by, steps }, onChange }: OptionsProps) {
  const keys = usePropertyKeys(steps[0]?.name);
  return (
    <Defined of="Break down by" text={FUNNEL_WORDS.by}>
      <div class="stack">
        <SelectField
          label="Break down by"
          value={by !== null && isProperty(by) ? PROPERTY : by ?? ""}
          choices={BY_CHOICES}
          onChange={(field) => onChange({ by: field === "" ? null : field })}
        />
        {by !== null && isProperty(by) && (
          <TextField
            label="Property"
            value={fieldLabel(by)}
            placeholder="plan"
            error={byFault(by)}
            suggestions={keys}
            onChange={(key) => onChange({ by: PROPERTY + key })}
          />
        )}
      </div>
    </Defined>
  );
}

function Exclusions({ value: { exclude }, onChange }: OptionsProps) {
  return (
    <div class="funnels-exclusions">
      {exclude.map((match, i) => (
        <div class="funnels-step" key={i}>
          <div class="funnels-step-tools">
            <Button
              icon="close"
              iconSize={14}
              kind="icon"
              aria-label={`Remove excluded event ${i + 1}`}
              onClick={() => onChange({ exclude: exclude.filter((_, j) => j !== i) })}
            />
          </div>
          <div class="funnels-step-fields">
            <MatchEditor
              label={exclude.length === 1 ? "People who did" : `People who did ${i + 1}`}
              value={match}
              onChange={(changed) => onChange({ exclude: exclude.with(i, changed) })}
            />
          </div>
        </div>
      ))}
      {exclude.length < EXCLUSIONS_MAX && (
        <p class="funnels-exclude">
          <Button
            icon="plus"
            kind="quiet"
            onClick={() => onChange({ exclude: [...exclude, NEW_EXCLUSION] })}
          >
            Exclude people who did
          </Button>
          <Definition of="Exclude people who did" text={FUNNEL_WORDS.exclude} />
        </p>
      )}
    </div>
  );
}

/** The fields of a funnel other than its steps. */
export function FunnelOptions(props: OptionsProps) {
  const { value: { order, entry }, onChange } = props;
  return (
    <>
      <Exclusions {...props} />
      <div class="funnels-options">
        <WindowFields {...props} />
        <Defined of="Order" text={FUNNEL_WORDS.order}>
          <SelectField
            label="Order"
            value={order}
            choices={ORDERS}
            onChange={(next) => onChange({ order: next as FunnelOrder })}
          />
        </Defined>
        <Defined of="What counts" text={FUNNEL_WORDS.entry}>
          <SelectField
            label="What counts"
            value={entry}
            choices={ENTRIES}
            onChange={(next) => onChange({ entry: next as FunnelEntry })}
          />
        </Defined>
        <ByFields {...props} />
      </div>
    </>
  );
}
