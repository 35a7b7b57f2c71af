/// <reference lib="dom" />
import { EmptyList } from "../empty_list.tsx";
import { sharedParams, viewParam } from "../location_state.ts";
import { Panel } from "../panel.tsx";
import { usePages } from "../resource.ts";
import { CountedChip, Narrowed } from "./visits_narrowed.tsx";
import type { VisitRow, VisitsReply } from "./visits_replies.ts";
import { VisitStory } from "./visits_story.tsx";
import { VisitsTable } from "./visits_table.tsx";

const DEFINITION =
  "Visits that started in the range and hold an event that fits the filters, the newest first. A visit ends where 30 minutes pass without an event.";

function VisitList() {
  const [goal, actor, of] = [viewParam("goal"), viewParam("actor"), viewParam("of")];
  const visits = usePages<VisitRow, VisitsReply>("/v1/visits", {
    ...sharedParams(),
    goal,
    actor,
    of,
    limit: 50,
  });
  // Every listed visit has reached it.
  const goalTitle = visits.rows[0]?.conversions.find(({ slug }) => slug === goal)?.title ?? goal;
  return (
    <>
      {(goal ?? actor ?? of) !== null && (
        <div class="chips">
          {goal !== null && <Narrowed name="goal" text={`Reached the goal ${goalTitle}`} />}
          {actor !== null && <Narrowed name="actor" text={`Visits of ${actor}`} />}
          {of !== null && <CountedChip of={of} total={visits.data?.total} listed="visits" />}
        </div>
      )}
      <Panel
        title="Visits"
        definition={DEFINITION}
        state={visits}
        skeletonRows={16}
        empty={visits.data !== null && visits.rows.length === 0 && (
          <EmptyList
            icon="log"
            none="No visits"
            noneFits="No visit fits"
            narrowing={{ goal, actor, of }}
          >
            Choose a longer range.
          </EmptyList>
        )}
      >
        <VisitsTable of={visits} caption="Visits, newest first" />
      </Panel>
    </>
  );
}

/** Visits one by one, or the story of one of them. */
export function VisitsView() {
  const id = viewParam("visit");
  return id === null ? <VisitList /> : <VisitStory key={id} id={id} />;
}
