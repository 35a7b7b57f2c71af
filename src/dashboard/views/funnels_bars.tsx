/// <reference lib="dom" />
import { Definition } from "../definition.tsx";
import { Change } from "../kpi_tile.tsx";
import { matchText } from "../match_editor.tsx";
import { duration, percent } from "../number_format.ts";
import { StepLost, StepPeople } from "./funnels_tables.tsx";
import { FUNNEL_WORDS, type FunnelReply, stepName } from "./funnels_words.ts";

/** What happened between a step and the one before. */
function Passage({ data, step, isWorst }: {
  readonly data: FunnelReply;
  readonly step: number;
  readonly isWorst: boolean;
}) {
  const { conversionFromPrevious, secondsFromPrevious: { median, p90 } } = data.steps[step]!;
  return (
    <p class="funnels-passage">
      <span>
        <strong>{percent(conversionFromPrevious.value)}</strong> went on
      </span>
      <span class={isWorst ? "funnels-worst" : ""}>
        <strong>
          <StepLost data={data} step={step} />
        </strong>{" "}
        lost{isWorst ? " " : ""}
        {isWorst && <em>(biggest drop)</em>}
      </span>
      <span>
        median <strong>{duration(median)}</strong>
      </span>
      <span>
        90% within <strong>{duration(p90)}</strong>
      </span>
    </p>
  );
}

/** The conditions of a step that its name does not state; null: none. */
function conditionsOf({ query }: FunnelReply, index: number): string | null {
  const match = query.steps[index];
  if (match === undefined || query.order === "unordered") return null;
  if (match.filters.length === 0 && match.label === undefined) return null;
  const { label, name } = match;
  const text = matchText({ name: match.name, filters: match.filters });
  // The event's name is there already, unless the step has one of its own.
  return label === undefined ? text.slice((name ?? "Any event").length).trim() : text;
}

function Legend() {
  return (
    <ul class="legend funnels-legend">
      <li>
        <span class="swatch" /> People <Definition of="People" text={FUNNEL_WORDS.actors} />
      </li>
      <li>
        % of all who entered{" "}
        <Definition of="Share of all who entered" text={FUNNEL_WORDS.fromStart} />
      </li>
      <li>
        Went on <Definition of="Went on" text={FUNNEL_WORDS.fromPrevious} />
      </li>
      <li>
        <span class="swatch funnels-swatch-lost" /> Lost{" "}
        <Definition of="Lost" text={FUNNEL_WORDS.dropoff} />
      </li>
      <li>
        Median <Definition of="Median" text={FUNNEL_WORDS.median} />
      </li>
      <li>
        90% within <Definition of="90% within" text={FUNNEL_WORDS.p90} />
      </li>
    </ul>
  );
}

/** A bar for each step; between two bars, how many went on and how many were lost. */
export function FunnelBars({ data }: { data: FunnelReply }) {
  const { steps, entered, change } = data;
  const most = Math.max(...steps.slice(1).map(({ dropoff }) => dropoff ?? 0), 1);
  const worst = steps.length > 2 ? steps.findIndex(({ dropoff }) => dropoff === most) : -1;
  const width = (actors: number | null) => `${entered === 0 ? 0 : 100 * (actors ?? 0) / entered}%`;
  return (
    <>
      <ol class="funnels-bars">
        {steps.map((step, i) => {
          const conditions = conditionsOf(data, i);
          return (
            <li key={i} class="funnels-row">
              {i > 0 && <Passage data={data} step={i} isWorst={i === worst} />}
              <div class="funnels-row-head">
                <span class="funnels-number" aria-hidden="true">{i + 1}</span>
                <span class="funnels-name">
                  {stepName(data, i)}
                  {conditions && <span class="muted" title={conditions}>{conditions}</span>}
                </span>
                <span class="funnels-actors">
                  <StepPeople data={data} step={i} />
                  <span class="visually-hidden">
                    {step.actors === 1 ? "person," : "people,"}
                  </span>
                </span>
                <span class="funnels-share">
                  {percent(step.conversionFromStart.value)}
                  <span class="visually-hidden">of all who entered</span>
                  {change && <Change value={change.steps[i]!.conversionFromStartPoints} isRate />}
                </span>
              </div>
              <div class="funnels-track" aria-hidden="true">
                <span
                  class={(step.actors ?? 0) > 0 ? "funnels-fill funnels-fill-some" : "funnels-fill"}
                  style={{ width: width(step.actors) }}
                />
                <span class="funnels-lost" style={{ width: width(step.dropoff) }} />
              </div>
            </li>
          );
        })}
      </ol>
      <Legend />
    </>
  );
}
