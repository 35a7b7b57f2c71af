/// <reference lib="dom" />
import { useMemo, useState } from "preact/hooks";
import { useWidth } from "../element_width.ts";
import { integer, percent } from "../number_format.ts";
import {
  layOut,
  NODE_PX,
  type PlacedLink,
  type PlacedNode,
  type Sankey,
} from "./journeys_layout.ts";
import { isSingleValue, type JourneysReply, valueText } from "./journeys_ways.ts";

interface SankeyProps {
  readonly reply: JourneysReply;
  readonly isBackward: boolean;
  /** The nodes of the chosen way; empty: none is chosen. */
  readonly way: readonly string[];
  readonly onNode: (key: string) => void;
  readonly onLink: (fromKey: string, toKey: string) => void;
}

/** The node of a neighbouring column with the largest link to it, else the nearest one. */
function neighbour(
  { nodes, links }: Sankey,
  at: PlacedNode,
  direction: 1 | -1,
): PlacedNode | undefined {
  const beside = nodes.filter(({ column }) => column === at.column + direction);
  const countTo = ({ key }: PlacedNode) =>
    links.filter(({ fromKey, toKey }) =>
      fromKey === at.key && toKey === key || toKey === at.key && fromKey === key
    ).reduce((sum, { link }) => sum + link.count, 0);
  return beside.toSorted((a, b) =>
    countTo(b) - countTo(a) || Math.abs(a.topPx - at.topPx) - Math.abs(b.topPx - at.topPx)
  )[0];
}

/** Where an arrow key leads from a node; undefined: nowhere. */
export function stepFrom(sankey: Sankey, at: PlacedNode, key: string): PlacedNode | undefined {
  const column = sankey.nodes.filter((each) => each.column === at.column);
  const place = column.indexOf(at);
  switch (key) {
    case "ArrowRight":
      return neighbour(sankey, at, 1);
    case "ArrowLeft":
      return neighbour(sankey, at, -1);
    case "ArrowDown":
      return column[place + 1];
    case "ArrowUp":
      return column[place - 1];
    case "Home":
      return column[0];
    case "End":
      return column.at(-1);
  }
}

/** Whether a way runs along a link: has both its ends, one after the other. */
const isOn = (way: readonly string[], { fromKey, toKey }: PlacedLink) =>
  way.some((key, i) => key === fromKey && (way[i + 1] === toKey || way[i - 1] === toKey));

function Drawing(
  { sankey, way, onLink }: Pick<SankeyProps, "way" | "onLink"> & { sankey: Sankey },
) {
  const { widthPx, heightPx, nodes, links } = sankey;
  return (
    <svg
      class={way.length > 0 ? "sankey-drawing sankey-chosen" : "sankey-drawing"}
      width={widthPx}
      height={heightPx}
      viewBox={`0 0 ${widthPx} ${heightPx}`}
      aria-hidden="true"
      focusable="false"
    >
      {links.map((placed) => (
        <path
          key={`${placed.fromKey} ${placed.toKey}`}
          class={`sankey-link sankey-to-${placed.link.toKind}${
            isOn(way, placed) ? " sankey-on" : ""
          }`}
          d={placed.path}
          stroke-width={placed.widthPx}
          onClick={() => onLink(placed.fromKey, placed.toKey)}
        />
      ))}
      {nodes.map(({ key, node, leftPx, topPx, heightPx }) => (
        <rect
          key={key}
          class={`sankey-node sankey-node-${node.kind}`}
          x={leftPx}
          y={topPx}
          width={NODE_PX}
          height={heightPx}
          rx="2"
        />
      ))}
    </svg>
  );
}

interface LabelProps {
  readonly placed: PlacedNode;
  readonly columnPx: number;
  readonly total: number;
  readonly isBackward: boolean;
  readonly isFocusable: boolean;
  readonly isOn: boolean;
  readonly onFocus: () => void;
  readonly onChoose: () => void;
  readonly onKey: (event: KeyboardEvent) => void;
}

function Label(props: LabelProps) {
  const { placed: { key, node, leftPx, topPx, heightPx }, columnPx, total, isBackward } = props;
  const text = valueText(node.kind, node.value, isBackward);
  const share = percent(total === 0 ? null : node.count / total, 0);
  return (
    <button
      type="button"
      class={`sankey-label${isSingleValue(node) ? "" : " sankey-label-minor"}${
        props.isOn ? " sankey-label-on" : ""
      }`}
      style={{
        left: `${leftPx}px`,
        top: `${topPx + heightPx / 2}px`,
        width: `${columnPx - 8}px`,
        paddingLeft: `${NODE_PX + 6}px`,
      }}
      data-key={key}
      title={text}
      tabIndex={props.isFocusable ? 0 : -1}
      aria-pressed={props.isOn}
      aria-label={`Step ${node.step}: ${text}, ${integer(node.count)}, ${share}`}
      onFocus={props.onFocus}
      onClick={props.onChoose}
      onKeyDown={props.onKey}
    >
      <span class="sankey-value">{text}</span>
      <span class="sankey-count">{integer(node.count)}</span>
    </button>
  );
}

/** The ways as a Sankey: one stop for Tab, from which the arrow keys lead on. */
export function SankeyDiagram({ reply, isBackward, way, onNode, onLink }: SankeyProps) {
  const { element: frame, widthPx } = useWidth<HTMLDivElement>();
  const sankey = useMemo(() => layOut(reply, isBackward, widthPx), [reply, isBackward, widthPx]);
  const [focused, setFocused] = useState<string | null>(null);
  const first = sankey.nodes[0]?.key;
  const stop = sankey.nodes.some(({ key }) => key === focused) ? focused : first;
  const move = (at: PlacedNode, event: KeyboardEvent) => {
    const next = stepFrom(sankey, at, event.key);
    if (next === undefined) return;
    event.preventDefault();
    const labels = frame.current!.querySelectorAll<HTMLElement>("[data-key]");
    for (const label of labels) if (label.dataset.key === next.key) label.focus();
  };
  return (
    <div ref={frame} class="sankey">
      <div
        class="sankey-plane"
        role="group"
        aria-label="Ways: move along them with the arrow keys"
        style={{ width: `${sankey.widthPx}px`, height: `${sankey.heightPx}px` }}
      >
        <Drawing {...{ sankey, way, onLink }} />
        {sankey.nodes.map((placed) => (
          <Label
            key={placed.key}
            {...{ placed, isBackward }}
            columnPx={sankey.columnPx}
            total={reply.total}
            isFocusable={placed.key === stop}
            isOn={way.includes(placed.key)}
            onFocus={() => setFocused(placed.key)}
            onChoose={() => onNode(placed.key)}
            onKey={(event) => move(placed, event)}
          />
        ))}
      </div>
    </div>
  );
}
