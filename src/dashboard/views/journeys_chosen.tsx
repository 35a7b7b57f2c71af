/// <reference lib="dom" />
import { Icon } from "../icons.tsx";
import { Button } from "../button.tsx";
import { Behind } from "../behind.tsx";
import { currentDates, go } from "../location_state.ts";
import { counted, integer, percent } from "../number_format.ts";
import { ViewLink } from "../view_link.tsx";
import { SHARE_ID } from "../share.ts";
import { DEFAULTS, definitionParams } from "./funnels_definition.ts";
import { isBackward, type Question, textOfPlace } from "./journeys_question.ts";
import {
  endsOf,
  funnelSteps,
  isSingleValue,
  type JourneysReply,
  numberOfWay,
  placeOf,
  valueText,
  type WayLink,
  type WayNode,
} from "./journeys_ways.ts";

interface ChosenProps {
  readonly reply: JourneysReply;
  readonly question: Question;
  /** The way to the chosen node, which is its last. */
  readonly way: readonly WayNode[];
  /** The chosen link; null: a node was chosen. */
  readonly link: WayLink | null;
}

const whom = ({ scope }: Question, count: number) =>
  scope === "actor" ? counted(count, "person", "people") : counted(count, "visit");

/** The way in words, in chronological order. */
function WayText({ way, isBack }: { way: readonly WayNode[]; isBack: boolean }) {
  return (
    <ol class="journeys-way">
      {(isBack ? way.toReversed() : way).map(({ step, kind, value }) => (
        <li key={step}>{valueText(kind, value, isBack)}</li>
      ))}
    </ol>
  );
}

/** Other ways from the node, or to it. */
function OtherWays({ node }: { node: WayNode }) {
  const place = placeOf(node);
  if (place === null) return null;
  const text = textOfPlace(place);
  return (
    <>
      <Button kind="quiet" onClick={() => go({ params: { start: text, end: null, node: null } })}>
        Ways from here
      </Button>
      <Button kind="quiet" onClick={() => go({ params: { start: null, end: text, node: null } })}>
        Ways to here
      </Button>
    </>
  );
}

/** The chosen way, with what can be done from there. */
export function ChosenWay({ reply, question, way, link }: ChosenProps) {
  const node = way.at(-1)!;
  const isBack = isBackward(question);
  const steps = funnelSteps(way, isBack);
  const { steps: funnel } = definitionParams({ ...DEFAULTS, steps });
  const number = numberOfWay(question, link === null ? [node] : endsOf(link));
  const [view, behind] = question.scope === "actor"
    ? ["people", "The people behind it"] as const
    : ["visits", "The visits behind it"] as const;
  const count = link?.count ?? node.count;
  return (
    <section class="journeys-chosen" aria-label="The chosen way">
      <WayText way={way} isBack={isBack} />
      <p role="status">
        <strong>
          <Behind view={view} number={number} of={behind}>{whom(question, count)}</Behind>
        </strong>, {percent(
          reply.total === 0 ? null : count / reply.total,
        )} of {integer(reply.total)}
        {link === null ? ` at step ${node.step}` : ` from step ${link.step} to ${link.step + 1}`}
      </p>
      <div class="journeys-actions">
        {steps.length > 1 && (
          <ViewLink
            class="button"
            to={{ view: "funnels", params: { steps: funnel } }}
          >
            <Icon name="funnels" /> Make a funnel of this path
          </ViewLink>
        )}
        {SHARE_ID === null && (
          <ViewLink
            class="button"
            to={{ view, range: currentDates(), params: { of: JSON.stringify(number) } }}
          >
            <Icon name="events" /> {behind}
          </ViewLink>
        )}
        {isSingleValue(node) && <OtherWays node={node} />}
        <Button icon="close" kind="quiet" onClick={() => go({ params: { node: null } })}>
          Choose nothing
        </Button>
      </div>
    </section>
  );
}
