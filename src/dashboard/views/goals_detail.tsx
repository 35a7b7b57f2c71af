/// <reference lib="dom" />
import { useMemo } from "preact/hooks";
import { Tabs } from "../breakdown.tsx";
import { ChartBlock } from "../chart_block.tsx";
import { pointsOf } from "../chart_lines.ts";
import { ComparedNote } from "../compared.tsx";
import { type Column, DataTable, numberColumn } from "../data_table.tsx";
import { DEFINITIONS } from "../definitions.ts";
import { DialogOpener } from "../dialog.tsx";
import { fieldLabel, valueLabel } from "../filter_fields.ts";
import { Icon } from "../icons.tsx";
import { Button } from "../button.tsx";
import { KpiTile } from "../kpi_tile.tsx";
import {
  addFilter,
  effectiveInterval,
  go,
  rangeName,
  sharedParams,
  viewParam,
} from "../location_state.ts";
import { matchText } from "../match_editor.tsx";
import { integer, percent } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import type { AcquisitionReply, AcquisitionRow } from "../replies.ts";
import { Deletion } from "../request_dialogs.tsx";
import { type Resource, usePages } from "../resource.ts";
import { hasScope } from "../session.ts";
import { SHARE_ID } from "../share.ts";
import {
  type Goal,
  GOAL_WORDS,
  type GoalChange,
  type GoalFigure,
  type GoalsReply,
} from "./goals_reading.ts";
import { NoWriting } from "./goals_start.tsx";
import { valueText } from "./goals_table.tsx";
import { RowCount, worthColumns } from "./overview_acquisition.tsx";
import { Reached } from "./overview_goals.tsx";

const CHART_PX = 260;
const TABS = [
  "channel",
  "source",
  "campaign",
  "country",
  "device",
  "entryPath",
  "referrer",
  "browser",
  "os",
]
  .map((id) => ({ id, label: fieldLabel(id) }));

const NAMES: Readonly<Record<GoalFigure, string>> = {
  uniqueConversions: "People",
  totalConversions: "Conversions",
};

interface TilesProps {
  readonly goal: Goal;
  readonly figure: GoalFigure;
  /** Undefined: nothing is compared. */
  readonly change: GoalChange | undefined;
}

function Tiles({ goal, figure, change }: TilesProps) {
  const choose = (next: GoalFigure) =>
    go({ params: { figure: next === "uniqueConversions" ? null : next } });
  const who = SHARE_ID === null && (goal.uniqueConversions ?? 0) > 0 && (
    <Reached goal={goal} isDrawing>
      <Icon name="people" size={14} />
    </Reached>
  );
  return (
    <div class="tiles goals-tiles">
      <KpiTile
        label="People"
        definition={DEFINITIONS.uniqueConversions}
        value={integer(goal.uniqueConversions)}
        change={change?.uniqueConversions}
        isSelected={figure === "uniqueConversions"}
        who={who}
        onSelect={() => choose("uniqueConversions")}
      />
      <KpiTile
        label="Conversions"
        definition={DEFINITIONS.totalConversions}
        value={integer(goal.totalConversions)}
        change={change?.totalConversions}
        isSelected={figure === "totalConversions"}
        who={who}
        onSelect={() => choose("totalConversions")}
      />
      <KpiTile
        label="Conversion rate"
        definition={DEFINITIONS.conversionRate}
        value={percent(goal.conversionRate.value)}
        change={change?.conversionRatePoints}
        isRate
      />
      <KpiTile
        label="Value"
        definition={goal.value.currency === null ? GOAL_WORDS.noValue : DEFINITIONS.goalValue}
        value={valueText(goal)}
        change={change?.amount}
      />
    </div>
  );
}

function Chart({ goal, figure, asOf }: { goal: Goal; figure: GoalFigure; asOf: string }) {
  const lines = useMemo(() => {
    const points = pointsOf(goal.series, (bucket) => bucket[figure], asOf);
    return [{ name: NAMES[figure], points }];
  }, [goal, figure, asOf]);
  return (
    <ChartBlock
      title={`${goal.title}: ${NAMES[figure].toLowerCase()} over time`}
      lines={lines}
      interval={effectiveInterval()}
      format={integer}
      unit="count"
      heightPx={CHART_PX}
      csvName={rangeName(goal.slug)}
    />
  );
}

function sourceColumns(
  by: string,
  slug: string,
  total: AcquisitionRow | undefined,
): readonly Column<AcquisitionRow>[] {
  const worth = total === undefined ? [] : worthColumns(total);
  return [
    {
      title: fieldLabel(by),
      value: ({ value }) => value,
      show: ({ value }) => <span title={value ?? undefined}>{valueLabel(by, value)}</span>,
    },
    numberColumn("People", ({ conversions }) => conversions, {
      definition: GOAL_WORDS.sourceConversions,
      show: (row) => (
        <strong>
          <RowCount by={by} row={row} of="conversions" goal={slug} />
        </strong>
      ),
    }),
    numberColumn("Visitors", ({ visitors }) => visitors, {
      definition: DEFINITIONS.visitors,
      show: (row) => <RowCount by={by} row={row} of="visitors" goal={null} />,
      isMinor: true,
    }),
    numberColumn("Rate", ({ conversionRate }) => conversionRate?.value, {
      definition: GOAL_WORDS.sourceRate,
      show: ({ conversionRate }) => percent(conversionRate?.value),
      // A phone has no room for it beside the value.
      isMinor: worth.length > 0,
    }),
    ...worth,
  ];
}

/** Where the visits that reached the goal came from. */
function SourcesPanel({ slug }: { slug: string }) {
  const by = TABS.find(({ id }) => id === viewParam("by"))?.id ?? TABS[0]!.id;
  const sources = usePages<AcquisitionRow, AcquisitionReply>("/v1/acquisition", {
    ...sharedParams(),
    by,
    goal: slug,
  });
  const { rows, paging } = sources;
  const name = fieldLabel(by).toLowerCase();
  return (
    <Panel
      title="Where they came from"
      definition={GOAL_WORDS.sources}
      state={sources}
      skeletonRows={9}
      actions={<Tabs label="Conversions by" param="by" tabs={TABS} chosen={by} />}
      empty={sources.data && rows.length === 0 && <EmptyNote title="No visits in this range" />}
    >
      <DataTable
        caption={`Conversions by ${name}`}
        columns={sourceColumns(by, slug, sources.data?.total)}
        rows={rows}
        rowKey={({ value }) => JSON.stringify(value)}
        bars
        onRow={({ value }) => addFilter(by, value)}
        rowAction={({ value }) => `Show only: ${fieldLabel(by)} is ${valueLabel(by, value)}`}
        csvName={rangeName(`${slug} by ${name}`)}
        {...paging}
        isSortable
      />
    </Panel>
  );
}

interface GoalDetailProps {
  readonly goal: Goal;
  /** Undefined: nothing is compared. */
  readonly change: GoalChange | undefined;
  readonly goals: Resource<GoalsReply>;
  readonly onBack: () => void;
  readonly onEdit: () => void;
  readonly onDeleted: () => void;
}

function DeleteButton({ goal: { slug, title }, onDeleted }: GoalDetailProps) {
  return (
    <DialogOpener
      icon="trash"
      kind="quiet"
      dialog={(onClose) => (
        <Deletion
          title="Delete this goal?"
          action="Delete"
          path={`/v1/goals/${slug}`}
          onDone={onDeleted}
          onClose={onClose}
        >
          “{title}” is no longer counted for anyone. No events are deleted: a goal like it shows the
          same numbers again.
        </Deletion>
      )}
    >
      Delete
    </DialogOpener>
  );
}

/** One goal: its figures, over time and by source. */
export function GoalDetail(props: GoalDetailProps) {
  const { goal, goals, onBack, onEdit } = props;
  const figure = viewParam("figure") === "totalConversions"
    ? "totalConversions"
    : "uniqueConversions";
  return (
    <>
      <p class="goals-back">
        <Button kind="quiet" onClick={onBack}>
          <span class="goals-back-arrow">
            <Icon name="up" size={14} />
          </span>{" "}
          All goals
        </Button>
      </p>
      <Panel
        title={goal.title}
        definition={GOAL_WORDS.series}
        state={goals}
        actions={hasScope("write") && (
          <>
            <Button icon="edit" kind="quiet" onClick={onEdit}>Edit</Button>
            <DeleteButton {...props} />
          </>
        )}
      >
        <p class="muted">Counted event: {matchText(goal.match)}</p>
        <Tiles goal={goal} figure={figure} change={props.change} />
        <ComparedNote previous={goals.data?.previous} />
        {goals.data && <Chart goal={goal} figure={figure} asOf={goals.data.asOf} />}
        {!hasScope("write") && <NoWriting />}
      </Panel>
      <SourcesPanel slug={goal.slug} />
    </>
  );
}
