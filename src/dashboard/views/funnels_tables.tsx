/// <reference lib="dom" />
import { Behind } from "../behind.tsx";
import type { NumberOf } from "../behind_words.ts";
import { changeColumn } from "../change_column.tsx";
import { type Column, DataTable, numberColumn } from "../data_table.tsx";
import { fieldLabel, OTHER, valueLabel } from "../filter_fields.ts";
import { addFilter, rangeName } from "../location_state.ts";
import { duration, integer, percent } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import type { Resource } from "../resource.ts";
import { plain } from "./funnels_definition.ts";
import {
  conversionOf,
  FUNNEL_WORDS,
  type FunnelGroup,
  type FunnelReply,
  stepName,
} from "./funnels_words.ts";

type FunnelPlace = Extract<NumberOf, { read: "funnels" }>["place"];

interface FunnelCountProps {
  readonly data: FunnelReply;
  /** Which number of the funnel it is. */
  readonly place: FunnelPlace;
  readonly count: number | null;
  /** What it counts, in words. */
  readonly of: string;
}

/** A number of a funnel, linked to the people it counts. */
export function FunnelCount({ data: { query }, place, count, of }: FunnelCountProps) {
  const { by, exclude, ...own } = plain(query);
  const number: NumberOf = {
    ...own,
    read: "funnels",
    ...by === null ? {} : { by },
    ...exclude.length === 0 ? {} : { exclude },
    place,
  };
  return (
    <Behind view="people" number={number} of={of} isLinked={(count ?? 0) > 0}>
      {integer(count)}
    </Behind>
  );
}

/** How many reached a step. */
export function StepPeople({ data, step }: { data: FunnelReply; step: number }) {
  return (
    <FunnelCount
      data={data}
      place={{ step: step + 1 }}
      count={data.steps[step]!.actors}
      of={`People who reached step ${step + 1}`}
    />
  );
}

/** How many reached the step before, and not this one. */
export function StepLost({ data, step }: { data: FunnelReply; step: number }) {
  const { dropoff } = data.steps[step]!;
  if (step === 0) return <>{integer(dropoff)}</>;
  return (
    <FunnelCount
      data={data}
      place={{ lost: step + 1 }}
      count={dropoff}
      of={`People who were lost before step ${step + 1}`}
    />
  );
}

/** The columns of the steps' table and CSV. */
export function stepColumns(data: FunnelReply): readonly Column<number>[] {
  const { steps, change } = data;
  const shareChange = (i: number) => change?.steps[i]?.conversionFromStartPoints;
  const number = (
    title: string,
    definition: string,
    value: (i: number) => number | null,
    format: typeof integer,
    isMinor = false,
  ) => numberColumn(title, value, { definition, format, isMinor });
  const { actors, fromStart, fromPrevious, dropoff, median, p90 } = FUNNEL_WORDS;
  return [
    {
      title: "Step",
      value: (i) => stepName(data, i),
      show: (i) => `${i + 1}. ${stepName(data, i)}`,
    },
    {
      ...number("People", actors, (i) => steps[i]!.actors, integer),
      show: (i) => <StepPeople data={data} step={i} />,
    },
    ...change ? [changeColumn<number>("Change", (i) => change.steps[i]!.actors)] : [],
    number("Of all", fromStart, (i) => steps[i]!.conversionFromStart.value, percent),
    ...change ? [changeColumn("Change of share", shareChange, { isRate: true })] : [],
    number("Went on", fromPrevious, (i) => steps[i]!.conversionFromPrevious.value, percent, true),
    {
      ...number("Lost", dropoff, (i) => steps[i]!.dropoff, integer),
      show: (i) => <StepLost data={data} step={i} />,
    },
    number("Median", median, (i) => steps[i]!.secondsFromPrevious.median, duration, true),
    number("90% within", p90, (i) => steps[i]!.secondsFromPrevious.p90, duration, true),
  ];
}

/** The figures of the bars as a table. */
export function StepTable({ data }: { data: FunnelReply }) {
  return (
    <DataTable
      caption="The funnel's steps"
      columns={stepColumns(data)}
      rows={data.steps.map((_, i) => i)}
      bars
    />
  );
}

/** How many of a group reached a step. */
function GroupCount({ data, group: { value }, step, count }: {
  readonly data: FunnelReply;
  readonly group: FunnelGroup;
  readonly step: number;
  readonly count: number | null;
}) {
  return (
    <FunnelCount
      {...{ data, count }}
      place={{ step, value }}
      of={`People who reached step ${step}, ${valueLabel(data.query.by!, value)}`}
    />
  );
}

function groupColumns(data: FunnelReply, by: string): readonly Column<FunnelGroup>[] {
  return [
    {
      title: fieldLabel(by),
      value: ({ value }) => value,
      show: ({ value }) => <span title={value ?? undefined}>{valueLabel(by, value)}</span>,
    },
    numberColumn("Entered", ({ entered }) => entered, {
      definition: FUNNEL_WORDS.entered,
      show: (group) => <GroupCount {...{ data, group }} step={1} count={group.entered} />,
    }),
    numberColumn("Conversion", conversionOf, {
      definition: FUNNEL_WORDS.conversion,
      show: (group) => <strong>{percent(conversionOf(group))}</strong>,
    }),
    numberColumn("Converted", ({ converted }) => converted, {
      definition: FUNNEL_WORDS.converted,
      show: (group) => (
        <GroupCount {...{ data, group }} step={data.steps.length} count={group.converted} />
      ),
      isMinor: true,
    }),
    // The conversion comes first: with many steps, the last columns have to be scrolled to.
    ...data.steps.slice(1, -1).map((_, k) =>
      numberColumn<FunnelGroup>(
        `${k + 2}. ${stepName(data, k + 1)}`,
        ({ steps }) => steps[k + 1]!.conversionFromStart.value,
        { definition: FUNNEL_WORDS.fromStart, format: percent, isMinor: true },
      )
    ),
  ];
}

/** The funnel for each value at entry, largest groups first. */
export function GroupPanel({ run }: { run: Resource<FunnelReply> }) {
  const by = run.data?.query.by ?? null;
  const groups = run.data?.groups ?? [];
  if (run.data === null || by === null) return null;
  const isField = (value: string | null) => value !== OTHER;
  const isMissing = groups.length === 1 && groups[0]!.value === null;
  return (
    <Panel
      title={`By ${fieldLabel(by).toLowerCase()}`}
      definition="The same funnel for each value that people had when they entered. Beyond the largest 25, all others together."
      state={run}
      empty={groups.length === 0 ? <EmptyNote title="Nobody entered in this range" /> : null}
    >
      {isMissing && (
        <p class="muted">
          Nobody had a value when they entered: it is read from the event of the first step.
        </p>
      )}
      <DataTable
        caption={`The funnel by ${fieldLabel(by)}`}
        columns={groupColumns(run.data, by)}
        rows={groups}
        rowKey={({ value }) => JSON.stringify(value)}
        bars
        onRow={({ value }) => isField(value) && addFilter(by, value)}
        rowAction={({ value }) =>
          isField(value)
            ? `Show only: ${fieldLabel(by)} is ${valueLabel(by, value)}`
            : "All values but the largest 25"}
        csvName={rangeName(`funnel by ${fieldLabel(by).toLowerCase()}`)}
        isSortable
      />
    </Panel>
  );
}
