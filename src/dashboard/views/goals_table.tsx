/// <reference lib="dom" />
import { changeColumn } from "../change_column.tsx";
import { pointsOf } from "../chart_lines.ts";
import { sparklineColumn } from "../sparkline_column.tsx";
import { type Column, DataTable, numberColumn } from "../data_table.tsx";
import { DEFINITIONS } from "../definitions.ts";
import { rangeName } from "../location_state.ts";
import { matchText } from "../match_editor.tsx";
import { integer, money, NOTHING, percent } from "../number_format.ts";
import type { Goal, GoalChange } from "./goals_reading.ts";
import { currencyColumns, Reached } from "./overview_goals.tsx";

/** A goal's value as text; a dash if it has none. */
export function valueText({ value }: Goal): string {
  return value.currency === null ? NOTHING : money(value.amount, value.currency);
}

const NAME: Column<Goal> = {
  title: "Goal",
  value: ({ title }) => title,
  show: ({ title, match }) => (
    <span class="goals-name">
      <span>{title}</span>
      <span class="muted" title={matchText(match)}>{matchText(match)}</span>
    </span>
  ),
};

/** Counts that a share withholds are drawn as 0. */
const course = (asOf: string): Column<Goal> =>
  sparklineColumn(
    "Over time",
    ({ series }) => pointsOf(series, ({ uniqueConversions }) => uniqueConversions ?? 0, asOf),
    { widthPx: 120, heightPx: 28 },
  );

const FIGURES: readonly Column<Goal>[] = [
  numberColumn("People", ({ uniqueConversions }) => uniqueConversions, {
    definition: DEFINITIONS.uniqueConversions,
    show: (goal) => (
      <Reached goal={goal}>
        <strong>{integer(goal.uniqueConversions)}</strong>
      </Reached>
    ),
  }),
  numberColumn("Conversions", ({ totalConversions }) => totalConversions, {
    definition: DEFINITIONS.totalConversions,
    show: (goal) => (
      <Reached goal={goal} isTheirs={false}>{integer(goal.totalConversions)}</Reached>
    ),
    isMinor: true,
  }),
  numberColumn("Rate", ({ conversionRate }) => conversionRate.value, {
    definition: DEFINITIONS.conversionRate,
    format: percent,
  }),
  numberColumn("Value", ({ value }) => value.amount, {
    definition: DEFINITIONS.goalValue,
    show: valueText,
  }),
];

/** How people and rates changed: counts in percent, rates in points. */
function changeColumns(changes: readonly GoalChange[]): readonly Column<Goal>[] {
  const changeOf = ({ slug }: Goal) => changes.find((each) => each.slug === slug);
  return [
    changeColumn("People ±", (goal) => changeOf(goal)?.uniqueConversions, { isMinor: true }),
    changeColumn("Rate ±", (goal) => changeOf(goal)?.conversionRatePoints, { isRate: true }),
  ];
}

interface GoalsTableProps {
  readonly goals: readonly Goal[];
  readonly asOf: string;
  /** Undefined: nothing is compared. */
  readonly changes: readonly GoalChange[] | undefined;
  readonly onGoal: (slug: string) => void;
}

/** Every goal with its figures. */
export function GoalsTable({ goals, asOf, changes, onGoal }: GoalsTableProps) {
  return (
    <div class="goals-table">
      <DataTable
        caption="Goals"
        columns={[
          NAME,
          course(asOf),
          ...FIGURES,
          ...currencyColumns(goals),
          ...changes === undefined ? [] : changeColumns(changes),
        ]}
        rows={goals}
        rowKey={({ slug }) => slug}
        bars
        onRow={({ slug }) => onGoal(slug)}
        rowAction={({ title }) => `Show ${title} over time and by source`}
        csvName={rangeName("goals")}
        isSortable={goals.length > 1}
      />
    </div>
  );
}
