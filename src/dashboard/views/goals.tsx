/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { ComparedNote } from "../compared.tsx";
import { Button } from "../button.tsx";
import { comparedParams, go, viewParam } from "../location_state.ts";
import { Panel } from "../panel.tsx";
import { useRead } from "../resource.ts";
import { hasScope } from "../session.ts";
import { GoalDetail } from "./goals_detail.tsx";
import { GoalDialog } from "./goals_dialog.tsx";
import { formOf, type GoalForm, newForm } from "./goals_form.ts";
import { type Goal, GOAL_WORDS, type GoalsReply } from "./goals_reading.ts";
import { GoalsStart, NoWriting } from "./goals_start.tsx";
import { GoalsTable } from "./goals_table.tsx";

/** What the dialog begins with; `slug` is null for a new goal. */
interface Editing {
  readonly start: GoalForm;
  readonly slug: string | null;
}

const showGoal = (slug: string | null) => go({ params: { goal: slug, by: null, figure: null } });

interface GoalsListProps {
  readonly resource: ReturnType<typeof useRead<GoalsReply>>;
  readonly goals: readonly Goal[];
  readonly isGone: boolean;
  readonly onCreate: (form: GoalForm) => void;
}

function GoalsList({ resource, goals, isGone, onCreate }: GoalsListProps) {
  const canWrite = hasScope("write");
  const isEmpty = resource.data !== null && goals.length === 0;
  return (
    <>
      {isGone && (
        <p class="banner" role="status">The goal of this address does not exist any more.</p>
      )}
      <Panel
        title="Goals"
        definition={GOAL_WORDS.goals}
        state={resource}
        actions={canWrite && !isEmpty && (
          <Button
            icon="plus"
            onClick={() => onCreate(newForm())}
          >
            New goal
          </Button>
        )}
        empty={isEmpty ? <GoalsStart onCreate={onCreate} /> : null}
      >
        {resource.data && (
          <GoalsTable
            goals={goals}
            asOf={resource.data.asOf}
            changes={resource.data.change}
            onGoal={showGoal}
          />
        )}
        <ComparedNote previous={resource.data?.previous} />
        {!canWrite && <NoWriting />}
      </Panel>
    </>
  );
}

/** All goals, or one in detail. */
export function GoalsView() {
  const resource = useRead<GoalsReply>("/v1/goals", comparedParams());
  const [deleted, setDeleted] = useState<readonly string[]>([]);
  const [editing, setEditing] = useState<Editing | null>(null);
  const goals = resource.data?.goals.filter(({ slug }) => !deleted.includes(slug)) ?? [];
  const chosen = viewParam("goal");
  const goal = goals.find(({ slug }) => slug === chosen) ?? null;
  const isGone = resource.state === "ready" && chosen !== null && goal === null;
  const saved = (slug: string) => {
    setEditing(null);
    setDeleted((before) => before.filter((each) => each !== slug));
    resource.reload();
  };
  const gone = (slug: string) => {
    setDeleted((before) => [...before, slug]);
    showGoal(null);
    resource.reload();
  };
  return (
    <>
      {goal === null
        ? (
          <GoalsList
            {...{ resource, goals, isGone }}
            onCreate={(start) => setEditing({ start, slug: null })}
          />
        )
        : (
          <GoalDetail
            goal={goal}
            change={resource.data?.change?.find(({ slug }) => slug === goal.slug)}
            goals={resource}
            onBack={() => showGoal(null)}
            onEdit={() => setEditing({ start: formOf(goal), slug: goal.slug })}
            onDeleted={() => gone(goal.slug)}
          />
        )}
      {editing && (
        <GoalDialog
          start={editing.start}
          isNew={editing.slug === null}
          taken={goals.flatMap(({ slug }) => slug === editing.slug ? [] : [slug])}
          onSaved={saved}
          onClose={() => setEditing(null)}
        />
      )}
    </>
  );
}
