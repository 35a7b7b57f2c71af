/// <reference lib="dom" />
import { useMemo } from "preact/hooks";
import { go, viewParam } from "../location_state.ts";
import { counted } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import { useRead } from "../resource.ts";
import { ChosenWay } from "./journeys_chosen.tsx";
import { JourneysForm } from "./journeys_form.tsx";
import { isBackward, journeyParams, type Question, readQuestion } from "./journeys_question.ts";
import { SankeyDiagram } from "./journeys_sankey.tsx";
import { WaysTable } from "./journeys_table.tsx";
import {
  fromKey,
  type JourneysReply,
  keyOf,
  toKey,
  type WayLink,
  type WayNode,
  wayTo,
} from "./journeys_ways.ts";

const DEFINITION =
  "The ways that visits take, step by step: values in a row count once, those beyond the largest are others. What leads to a value and away from it adds up to its count.";

const EMPTY = (
  <EmptyNote title="Nobody went such a way in this range" icon="journeys">
    Choose a longer range, another start or end, or fewer filters.
  </EmptyNote>
);

/** From the address: the key of the chosen node, or of both nodes of the chosen link. */
function chosenKeys(): readonly string[] {
  try {
    const keys: unknown = JSON.parse(viewParam("node") ?? "[]");
    return Array.isArray(keys) ? keys.filter((key) => typeof key === "string") : [];
  } catch {
    return [];
  }
}

function choose(...keys: readonly string[]): void {
  const text = JSON.stringify(keys);
  go({ params: { node: text === viewParam("node") ? null : text } }, { replace: true });
}

/** The way to the chosen node or link; empty: none is chosen. */
function chosenWay(
  reply: JourneysReply,
  [first, second]: readonly string[],
): { readonly way: readonly WayNode[]; readonly link: WayLink | null } {
  const nodeOf = (key: string | undefined) => reply.nodes.find((node) => keyOf(node) === key);
  const [from, to] = [nodeOf(first), nodeOf(second)];
  if (from === undefined) return { way: [], link: null };
  if (to === undefined) return { way: wayTo(reply, from), link: null };
  const link = reply.links.find((each) => fromKey(each) === first && toKey(each) === second);
  return link === undefined ? { way: [], link: null } : { way: [...wayTo(reply, from), to], link };
}

function Ways({ reply, question }: { reply: JourneysReply; question: Question }) {
  const keys = chosenKeys();
  const text = JSON.stringify(keys);
  const { way, link } = useMemo(() => chosenWay(reply, keys), [reply, text]);
  const isBack = isBackward(question);
  const isOfPeople = question.scope === "actor";
  return (
    <>
      <p class="muted">
        {isOfPeople ? counted(reply.total, "person", "people") : counted(reply.total, "visit")}
        {isBack ? ", followed back from where they end: step 1 is at the right" : ""}
      </p>
      <SankeyDiagram
        {...{ reply, isBackward: isBack }}
        way={way.map(keyOf)}
        onNode={choose}
        onLink={choose}
      />
      {way.length > 0
        ? <ChosenWay {...{ reply, question, way, link }} />
        : <p class="muted">Choose a step or a row to see the way there, and to go on from it.</p>}
      <WaysTable
        {...{ reply, question, isBackward: isBack }}
        onLink={choose}
      />
    </>
  );
}

/** The ways that people take, as a Sankey and as a table. */
export function JourneysView() {
  const question = readQuestion();
  const journeys = useRead<JourneysReply>("/v1/journeys", journeyParams(question));
  const { data } = journeys;
  return (
    <>
      <JourneysForm question={question} />
      <Panel
        title="Ways"
        definition={DEFINITION}
        state={journeys}
        skeletonRows={12}
        empty={data?.total === 0 ? EMPTY : null}
        class="journeys-panel"
      >
        {data !== null && <Ways reply={data} question={question} />}
      </Panel>
    </>
  );
}
