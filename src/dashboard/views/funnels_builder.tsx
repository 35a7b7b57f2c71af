/// <reference lib="dom" />
import { Button } from "../button.tsx";
import { useState } from "preact/hooks";
import { matchText } from "../match_editor.tsx";
import { Panel } from "../panel.tsx";
import { type FunnelDefinition, windowText } from "./funnels_definition.ts";
import type { Draft } from "./funnels_draft.ts";
import { FunnelOptions } from "./funnels_options.tsx";
import { SaveActions } from "./funnels_saving.tsx";
import type { FunnelSource } from "./funnels_source.ts";
import { FunnelSteps } from "./funnels_steps.tsx";
import { FUNNEL_WORDS } from "./funnels_words.ts";

/** In narrower windows the form begins folded, as the result is below it. */
const WIDE = "(min-width: 1101px)";
const ORDER_TEXTS = {
  ordered: "in this order",
  strict: "strictly one after the other",
  unordered: "in any order",
} as const;

/** The definition in a sentence, while the form is folded. */
function Summary({ value }: { value: FunnelDefinition }) {
  const { steps, window, order, exclude } = value;
  return (
    <div class="stack">
      <ol class="funnels-summary-steps">
        {steps.map((step, i) => <li key={i}>{matchText(step)}</li>)}
      </ol>
      <p class="muted">
        {ORDER_TEXTS[order]}, within {windowText(window)}
        {exclude.length > 0 && `, without ${exclude.map(matchText).join(" or ")}`}
      </p>
    </div>
  );
}

/** The form that defines a funnel. */
export function FunnelBuilder({ source, draft }: { source: FunnelSource; draft: Draft }) {
  const [isOpen, setOpen] = useState(() => matchMedia(WIDE).matches);
  const { value, change } = draft;
  return (
    <Panel
      title="Steps"
      definition={FUNNEL_WORDS.steps}
      class="funnels-builder"
      actions={
        <Button
          icon="edit"
          kind="quiet"
          class="funnels-fold"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? "Done" : "Change"}
        </Button>
      }
    >
      {isOpen
        ? (
          <>
            <FunnelSteps steps={value.steps} onChange={(steps) => change({ steps })} />
            <FunnelOptions value={value} onChange={change} />
          </>
        )
        : <Summary value={value} />}
      <SaveActions source={source} draft={draft} />
    </Panel>
  );
}
