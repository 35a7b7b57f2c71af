/** Lays out the nodes and links of a Sankey, in pixels. */
// @ts-types="@types/d3-sankey"
import { sankey, type SankeyGraph, sankeyLinkHorizontal } from "d3-sankey";
import {
  fromKey,
  type JourneysReply,
  keyOf,
  toKey,
  type WayLink,
  type WayNode,
} from "./journeys_ways.ts";

export const NODE_PX = 10;
/** The space between two nodes, into which a label fits. */
const APART_PX = 22;
const ROW_PX = 36;
const HEIGHT_PX_MIN = 320;
const COLUMN_PX_MIN = 170;

export interface PlacedNode {
  readonly key: string;
  readonly node: WayNode;
  /** From the left, counted from 0. */
  readonly column: number;
  readonly leftPx: number;
  readonly topPx: number;
  readonly heightPx: number;
}

export interface PlacedLink {
  readonly link: WayLink;
  readonly fromKey: string;
  readonly toKey: string;
  readonly path: string;
  readonly widthPx: number;
}

export interface Sankey {
  readonly widthPx: number;
  readonly heightPx: number;
  /** Of a column, with room for labels. */
  readonly columnPx: number;
  /** Of each column from top to bottom, the columns from left to right. */
  readonly nodes: readonly PlacedNode[];
  readonly links: readonly PlacedLink[];
}

interface Node {
  readonly key: string;
  readonly node: WayNode;
  readonly column: number;
}

interface Link {
  readonly link: WayLink;
}

/** The largest step that there is. */
function columnsOf({ nodes }: Pick<JourneysReply, "nodes">): number {
  return Math.max(1, ...nodes.map(({ step }) => step));
}

/**
 * Lays a reply out in columns of steps, each in the reply's order. Ways back run from the left to their
 * end at the right, as they were gone.
 */
export function layOut(
  reply: Pick<JourneysReply, "nodes" | "links">,
  isBackward: boolean,
  availablePx: number,
): Sankey {
  const columns = columnsOf(reply);
  const columnOf = ({ step }: WayNode) => isBackward ? columns - step : step - 1;
  const most = Math.max(
    1,
    ...Map.groupBy(reply.nodes, ({ step }) => step).values().map(({ length }) => length),
  );
  const columnPx = Math.max(COLUMN_PX_MIN, Math.floor(availablePx / columns));
  const heightPx = Math.max(HEIGHT_PX_MIN, most * ROW_PX);
  const graph: SankeyGraph<Node, Link> = {
    nodes: reply.nodes.map((node) => ({ key: keyOf(node), node, column: columnOf(node) })),
    links: reply.links.map((link) => {
      const [from, to] = [fromKey(link), toKey(link)];
      const [source, target] = isBackward ? [to, from] : [from, to];
      return { source, target, value: link.count, link };
    }),
  };
  const laid = sankey<Node, Link>()
    .nodeId(({ key }) => key)
    .nodeAlign(({ column }) => column)
    // As the reply has them: the largest first, others and ends last.
    .nodeSort(null)
    .linkSort(null)
    .nodeWidth(NODE_PX)
    .nodePadding(APART_PX)
    .extent([[0, 8], [(columns - 1) * columnPx + NODE_PX, heightPx - 8]])(graph);
  const path = sankeyLinkHorizontal();
  return {
    widthPx: columns * columnPx,
    heightPx,
    columnPx,
    nodes: laid.nodes.map((placed) => ({
      key: placed.key,
      node: placed.node,
      column: placed.column,
      leftPx: placed.column * columnPx,
      topPx: placed.y0!,
      heightPx: Math.max(1, placed.y1! - placed.y0!),
    })).toSorted((a, b) => a.column - b.column || a.topPx - b.topPx),
    links: laid.links.map((placed) => ({
      link: placed.link,
      fromKey: fromKey(placed.link),
      toKey: toKey(placed.link),
      path: path(placed) ?? "",
      widthPx: Math.max(1, placed.width ?? 0),
    })),
  };
}
