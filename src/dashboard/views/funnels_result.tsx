/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { ComparedNote } from "../compared.tsx";
import { CsvButton } from "../csv_button.tsx";
import { csvOf } from "../data_table.tsx";
import { DEFINITIONS } from "../definitions.ts";
import { Button } from "../button.tsx";
import { KpiTile } from "../kpi_tile.tsx";
import { effectiveTimezone, rangeName } from "../location_state.ts";
import { dateTime, percent } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import type { Resource } from "../resource.ts";
import { FunnelBars } from "./funnels_bars.tsx";
import { isRunnable, unfinishedConditions } from "./funnels_definition.ts";
import type { Draft } from "./funnels_draft.ts";
import { FunnelCount, stepColumns, StepPeople, StepTable } from "./funnels_tables.tsx";
import { conversionOf, FUNNEL_WORDS, type FunnelReply, placedProblem } from "./funnels_words.ts";

type RunState = "unfinished" | "waiting" | "running" | "ready" | "error";

function runState(draft: Draft, run: Resource<FunnelReply>): RunState {
  if (!isRunnable(draft.value)) return "unfinished";
  if (draft.isWaiting) return "waiting";
  if (run.state === "loading") return "running";
  return run.problem === null ? "ready" : "error";
}

function stateText(state: RunState, draft: Draft, data: FunnelReply | null): string {
  if (state === "unfinished") return "Not run yet: a field on the form needs a value.";
  if (state === "waiting") return "Runs when you stop typing…";
  if (state === "running") return "Counting…";
  if (state === "error" || data === null) return "";
  const left = unfinishedConditions(draft.value);
  const at = `Up to date, as of ${dateTime(data.asOf, effectiveTimezone.value)}.`;
  if (left === 0) return at;
  return `${at} ${left === 1 ? "A condition" : `${left} conditions`} without a value ${
    left === 1 ? "is" : "are"
  } excluded.`;
}

/** Whether the result is that of the form. */
function StateLine({ draft, run }: { draft: Draft; run: Resource<FunnelReply> }) {
  const state = runState(draft, run);
  return (
    <p class="funnels-state" role="status" data-run={state}>
      <span class={`funnels-dot funnels-dot-${state}`} /> {stateText(state, draft, run.data)}
    </p>
  );
}

/** The key figures of a funnel. */
function Tiles({ data }: { data: FunnelReply }) {
  const { open, excluded, query, change, steps } = data;
  const enteredMeaning = query.order === "unordered"
    ? FUNNEL_WORDS.enteredUnordered
    : FUNNEL_WORDS.entered;
  return (
    <div class="tiles funnels-tiles">
      <KpiTile
        label="Conversion"
        definition={FUNNEL_WORDS.conversion}
        value={percent(conversionOf(data))}
        change={change?.conversionRatePoints}
        isRate
      />
      <KpiTile
        label="Entered"
        definition={enteredMeaning}
        value={<StepPeople data={data} step={0} />}
        change={change?.entered}
      />
      <KpiTile
        label="Converted"
        definition={FUNNEL_WORDS.converted}
        value={<StepPeople data={data} step={steps.length - 1} />}
        change={change?.converted}
      />
      <KpiTile
        label="Still within the time limit"
        definition={FUNNEL_WORDS.open}
        value={
          <FunnelCount
            data={data}
            place={{ ended: "open" }}
            count={open}
            of="People who may still get on"
          />
        }
      />
      <KpiTile
        label="Excluded"
        definition={FUNNEL_WORDS.excluded}
        value={
          <FunnelCount
            data={data}
            place={{ ended: "excluded" }}
            count={excluded}
            of="People whose attempt was ended by an excluded event"
          />
        }
      />
    </div>
  );
}

/** The switch between bars and table, and the CSV button. */
function Actions({ data, name, isTable, onTable }: {
  readonly data: FunnelReply | null;
  readonly name: string;
  readonly isTable: boolean;
  readonly onTable: () => void;
}) {
  return (
    <>
      <Button icon={isTable ? "chart" : "table"} kind="quiet" onClick={onTable}>
        {isTable ? "Bars" : "Table"}
      </Button>
      {data && (
        <CsvButton
          name={rangeName(`funnel ${name}`)}
          table="Steps of the funnel"
          content={() => csvOf(stepColumns(data), data.steps.map((_, i) => i))}
        />
      )}
    </>
  );
}

interface FunnelResultProps {
  readonly title: string;
  readonly draft: Draft;
  readonly run: Resource<FunnelReply>;
}

/** The steps: as bars, or as a table. */
function Steps({ data, isTable }: { data: FunnelReply; isTable: boolean }) {
  if (data.entered === 0) {
    return (
      <EmptyNote title="Nobody did the first step in this range" icon="funnels">
        Choose a longer range, take filters away, or begin with another event.
      </EmptyNote>
    );
  }
  return isTable ? <StepTable data={data} /> : <FunnelBars data={data} />;
}

interface FunnelPanelProps {
  readonly title: string;
  /** The name of its file. */
  readonly name: string;
  readonly run: Resource<FunnelReply>;
  /** Shown above the figures. */
  readonly children?: ComponentChildren;
}

/** The figures of a funnel, and its steps as bars or as a table. */
export function FunnelPanel({ title, name, run, children }: FunnelPanelProps) {
  const [isTable, setTable] = useState(false);
  const { data, problem } = run;
  return (
    <Panel
      title={title}
      definition={DEFINITIONS.funnel}
      state={{ ...run, problem: problem && placedProblem(problem) }}
      skeletonRows={12}
      class="funnels-result"
      actions={<Actions {...{ data, name, isTable }} onTable={() => setTable(!isTable)} />}
    >
      {children}
      {data && (
        <>
          <Tiles data={data} />
          <ComparedNote previous={data.previous} />
          <Steps data={data} isTable={isTable} />
        </>
      )}
    </Panel>
  );
}

/** The result of the funnel that is being built. */
export function FunnelResult({ title, draft, run }: FunnelResultProps) {
  const name = title.replace(/[^\p{L}\p{N} _-]+/gu, " ").trim().toLowerCase();
  return (
    <FunnelPanel {...{ title, name, run }}>
      <StateLine {...{ draft, run }} />
    </FunnelPanel>
  );
}
