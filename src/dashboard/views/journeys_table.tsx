/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { Behind } from "../behind.tsx";
import { type Column, DataTable, numberColumn } from "../data_table.tsx";
import { rangeName } from "../location_state.ts";
import { integer, percent } from "../number_format.ts";
import type { Question } from "./journeys_question.ts";
import {
  endsOf,
  fromKey,
  type JourneysReply,
  keyOf,
  numberOfWay,
  toKey,
  valueText,
  type WayLink,
} from "./journeys_ways.ts";

const SHARE =
  "Of those at the first of the two steps with this value, the share that went this way.";

/** The others take a click on "more". */
const ROWS_SHOWN = 25;

interface Row extends WayLink {
  readonly share: number | null;
}

function columnsOf(isBackward: boolean, question: Question): readonly Column<Row>[] {
  const isOfPeople = question.scope === "actor";
  const text = (kind: WayLink["fromKind"], value: string | null) =>
    valueText(kind, value, isBackward);
  return [
    {
      title: isBackward ? "To" : "From",
      value: ({ fromKind, from }) => from ?? text(fromKind, from),
      show: ({ step, fromKind, from }) => (
        <span title={from ?? undefined}>
          <span class="muted">{step}.</span> {text(fromKind, from)}
        </span>
      ),
    },
    {
      title: isBackward ? "From" : "To",
      value: ({ toKind, to }) => to ?? text(toKind, to),
      show: ({ step, toKind, to }) => (
        <span class="journeys-cell" title={to ?? undefined}>
          <span class="muted">{step + 1}.</span> {text(toKind, to)}
        </span>
      ),
    },
    { title: "Step", value: ({ step }) => step, isNumber: true, isMinor: true },
    numberColumn(isOfPeople ? "People" : "Visits", ({ count }) => count, {
      show: (link) => (
        <strong>
          <Behind
            view={isOfPeople ? "people" : "visits"}
            number={numberOfWay(question, endsOf(link))}
            of={`${isOfPeople ? "People" : "Visits"} that went this way`}
          >
            {integer(link.count)}
          </Behind>
        </strong>
      ),
    }),
    numberColumn("Share", ({ share }) => share, { definition: SHARE, format: percent }),
  ];
}

interface WaysTableProps {
  readonly reply: JourneysReply;
  readonly isBackward: boolean;
  readonly question: Question;
  readonly onLink: (fromKey: string, toKey: string) => void;
}

/** The ways as a table, each link of the diagram a row: the largest first. */
export function WaysTable({ reply, isBackward, question, onLink }: WaysTableProps) {
  const counts = new Map(reply.nodes.map((node) => [keyOf(node), node.count]));
  const rows = reply.links.map((link): Row => {
    const all = counts.get(fromKey(link)) ?? 0;
    return { ...link, share: all === 0 ? null : link.count / all };
  }).toSorted((a, b) => b.count - a.count || a.step - b.step);
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? rows : rows.slice(0, ROWS_SHOWN);
  return (
    <DataTable
      caption="Steps of the ways"
      columns={columnsOf(isBackward, question)}
      rows={shown}
      allRows={() => Promise.resolve(rows)}
      onMore={shown.length < rows.length ? () => setWhole(true) : undefined}
      rowKey={(link) => `${fromKey(link)} ${toKey(link)}`}
      bars
      onRow={(link) => onLink(fromKey(link), toKey(link))}
      rowAction={() => "Show this step in the diagram"}
      csvName={rangeName("journeys")}
      isSortable
    />
  );
}
