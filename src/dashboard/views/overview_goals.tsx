/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import { Behind } from "../behind.tsx";
import { hasValue } from "../location_query.ts";
import { type Column, DataTable, numberColumn } from "../data_table.tsx";
import { DEFINITIONS } from "../definitions.ts";
import { Icon } from "../icons.tsx";
import { go, rangeName, sharedParams, viewParam } from "../location_state.ts";
import { integer, money, NOTHING, percent } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import type { GoalResult } from "../../reports/goals/goals.ts";
import { useRead } from "../resource.ts";
import { showsView } from "../share.ts";
import { ViewLink } from "../view_link.tsx";

/** The goal whose conversions the other tables show, with a button to show none. */
export function ChosenGoal() {
  const slug = showsView("goals") ? viewParam("goal") : null;
  const goals = useGoals(slug !== null);
  if (slug === null) return null;
  const title = goals.data?.goals.find((goal) => goal.slug === slug)?.title ?? slug;
  return (
    <p class="live-line">
      Conversions of
      <button
        type="button"
        class="chip"
        aria-label={`Show no conversions of ${title}`}
        onClick={() => go({ params: { goal: null } })}
      >
        {title} <Icon name="close" size={12} />
      </button>
    </p>
  );
}

interface ReachedProps {
  readonly goal: Pick<GoalResult, "title" | "match" | "uniqueConversions">;
  /** The number counts people, not what they did. */
  readonly isTheirs?: boolean;
  readonly isDrawing?: boolean;
  readonly children: ComponentChildren;
}

/** A number of a goal, linked to the people who reached it. */
export function Reached({ goal, isTheirs = true, isDrawing = false, children }: ReachedProps) {
  const { title, match, uniqueConversions } = goal;
  return (
    <Behind
      view="people"
      filters={[...match.name === null ? [] : [hasValue("name", match.name)], ...match.filters]}
      of={`People who reached ${title}`}
      isLinked={(uniqueConversions ?? 0) > 0}
      isTheirs={isTheirs}
      isDrawing={isDrawing}
    >
      {children}
    </Behind>
  );
}

const CURRENCY: Column<GoalResult> = {
  title: "Currency",
  value: ({ value }) => value.currency,
  isExportOnly: true,
};

/** The currency beside the number in the CSV, if any goal has one. */
export function currencyColumns(goals: readonly GoalResult[]): readonly Column<GoalResult>[] {
  return goals.some(({ value }) => value.currency !== null) ? [CURRENCY] : [];
}

const COLUMNS: readonly Column<GoalResult>[] = [
  { title: "Goal", value: ({ title }) => title },
  numberColumn("People", ({ uniqueConversions }) => uniqueConversions, {
    definition: DEFINITIONS.uniqueConversions,
    show: (goal) => <Reached goal={goal}>{integer(goal.uniqueConversions)}</Reached>,
  }),
  numberColumn("Rate", ({ conversionRate }) => conversionRate.value, {
    definition: DEFINITIONS.conversionRate,
    format: percent,
  }),
  numberColumn("Value", ({ value }) => value.amount, {
    definition: DEFINITIONS.goalValue,
    show: ({ value }) => value.currency === null ? NOTHING : money(value.amount, value.currency),
  }),
];

/** Only totals are shown, so the fewest buckets are asked for. */
function useGoals(isAsked: boolean) {
  return useRead<{ goals: readonly GoalResult[] }>(isAsked ? "/v1/goals" : null, {
    ...sharedParams(),
    interval: "month",
  });
}

/** The saved goals with their figures; a click shows the conversions of one in the other tables. */
export function GoalsPanel() {
  const goals = useGoals(true);
  const chosen = viewParam("goal");
  const rows = goals.data?.goals ?? [];
  const link = (
    <ViewLink class="button button-quiet" to={{ view: "goals" }}>
      <Icon name="goals" /> All goals
    </ViewLink>
  );
  return (
    <Panel
      title="Goals"
      class="panel-dense"
      definition={DEFINITIONS.goals}
      state={goals}
      actions={link}
      empty={goals.data !== null && rows.length === 0 && (
        <EmptyNote title="No goals yet" icon="goals">
          A goal counts who signs up, buys, or does whatever else you hope for.
        </EmptyNote>
      )}
    >
      <DataTable
        caption="Goals"
        columns={[...COLUMNS, ...currencyColumns(rows)]}
        rows={rows}
        rowKey={({ slug }) => slug}
        bars
        csvName={rangeName("goals")}
        onRow={({ slug }) => go({ params: { goal: slug === chosen ? null : slug } })}
        rowAction={({ title, slug }) =>
          slug === chosen
            ? "Show no conversions"
            : `Show conversions of ${title} in the other tables`}
      />
    </Panel>
  );
}
