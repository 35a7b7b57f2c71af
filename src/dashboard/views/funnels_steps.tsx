/// <reference lib="dom" />
import { Button } from "../button.tsx";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { TextField } from "../field.tsx";
import { type EventMatch, MatchEditor } from "../match_editor.tsx";
import { STEPS_MAX } from "./funnels_definition.ts";

const LABEL_LENGTH_MAX = 200;

type Control = "name" | "up" | "down" | "remove";

interface StepProps {
  readonly step: EventMatch;
  readonly index: number;
  readonly count: number;
  readonly onChange: (step: EventMatch) => void;
  readonly onMove: (by: -1 | 1) => void;
  readonly onRemove: () => void;
}

function StepTools({ index, count, onMove, onRemove }: StepProps) {
  const n = index + 1;
  return (
    <div class="funnels-step-tools">
      <Button
        icon="up"
        iconSize={14}
        kind="icon"
        data-control="up"
        aria-label={`Move step ${n} up`}
        disabled={index === 0}
        onClick={() => onMove(-1)}
      />
      <Button
        icon="fall"
        iconSize={14}
        kind="icon"
        data-control="down"
        aria-label={`Move step ${n} down`}
        disabled={index === count - 1}
        onClick={() => onMove(1)}
      />
      <Button
        icon="close"
        iconSize={14}
        kind="icon"
        data-control="remove"
        aria-label={`Remove step ${n}`}
        disabled={count === 1}
        onClick={onRemove}
      />
    </div>
  );
}

/** One step: its event and conditions, and its own name, if any. */
function Step(props: StepProps) {
  const { step, index, onChange } = props;
  const n = index + 1;
  return (
    <li class="funnels-step" data-step={index}>
      <StepTools {...props} />
      <div class="funnels-step-fields">
        <MatchEditor label={`Step ${n}`} value={step} onChange={onChange} />
        {step.label === undefined
          ? (
            <Button
              icon="edit"
              kind="quiet"
              aria-label={`Give step ${n} a name`}
              onClick={() => onChange({ ...step, label: "" })}
            >
              Name
            </Button>
          )
          : (
            <TextField
              label={`Name of step ${n}`}
              hint="Shown in the place of the event."
              // It replaces the button that asked for it, so it takes the focus.
              isFirst={step.label === ""}
              value={step.label}
              maxLength={LABEL_LENGTH_MAX}
              onChange={(label) => onChange({ ...step, label })}
            />
          )}
      </div>
    </li>
  );
}

/** Puts the focus where editing continues after the list has changed. */
function useStepFocus() {
  const list = useRef<HTMLOListElement>(null);
  const wanted = useRef<{ index: number; controls: readonly Control[] } | null>(null);
  useLayoutEffect(() => {
    if (wanted.current === null || list.current === null) return;
    const { index, controls } = wanted.current;
    wanted.current = null;
    const step = list.current.querySelector(`[data-step="${index}"]`);
    const selectors = controls.map((control) =>
      control === "name" ? ".field input" : `[data-control="${control}"]:not(:disabled)`
    );
    const target = selectors.map((each) => step?.querySelector<HTMLElement>(each)).find(Boolean);
    target?.focus();
  });
  return {
    list,
    focus(index: number, controls: readonly Control[]) {
      wanted.current = { index, controls };
    },
  };
}

interface FunnelStepsProps {
  readonly steps: readonly EventMatch[];
  readonly onChange: (steps: readonly EventMatch[]) => void;
}

/** The steps, to be changed, moved, added and removed. */
export function FunnelSteps({ steps, onChange }: FunnelStepsProps) {
  const { list, focus } = useStepFocus();
  const [said, setSaid] = useState("");
  const move = (index: number, by: -1 | 1) => {
    const to = index + by;
    const moved = steps.with(index, steps[to]!).with(to, steps[index]!);
    focus(to, by < 0 ? ["up", "down"] : ["down", "up"]);
    setSaid(`Moved to step ${to + 1} of ${steps.length}`);
    onChange(moved);
  };
  const remove = (index: number) => {
    focus(Math.min(index, steps.length - 2), ["remove", "name"]);
    setSaid(`Step ${index + 1} removed`);
    onChange(steps.filter((_, i) => i !== index));
  };
  const add = () => {
    focus(steps.length, ["name"]);
    setSaid(`Step ${steps.length + 1} added`);
    onChange([...steps, { name: null, filters: [] }]);
  };
  return (
    <>
      <ol class="funnels-steps" ref={list}>
        {steps.map((step, i) => (
          <Step
            key={i}
            {...{ step, index: i, count: steps.length }}
            onChange={(changed) => onChange(steps.with(i, changed))}
            onMove={(by) => move(i, by)}
            onRemove={() => remove(i)}
          />
        ))}
      </ol>
      <p class="visually-hidden" role="status">{said}</p>
      {steps.length < STEPS_MAX
        ? <Button icon="plus" class="funnels-add" onClick={add}>Add a step</Button>
        : <p class="muted">A funnel has at most {STEPS_MAX} steps.</p>}
    </>
  );
}
