/** Replies of journeys, and the ways, funnels and filters derived from them. */
import type { output, ZodObject } from "zod";
import type { JOURNEY_REPLY } from "../../reports/journeys/journey_scan.ts";
import type { NumberOf, WayPlace } from "../behind_words.ts";
import { hasValue } from "../location_query.ts";
import type { EventMatch } from "../match_editor.tsx";
import { readablePath } from "../../readable_path.ts";
import { type JourneyPlace, type Question, textOfPlace } from "./journeys_question.ts";

/** `GET /v1/journeys`. */
export type JourneysReply = output<ZodObject<typeof JOURNEY_REPLY>>;
export type WayNode = JourneysReply["nodes"][number];
export type WayLink = JourneysReply["links"][number];
export type NodeKind = WayNode["kind"];

/** Identifies a node among those of all steps. */
function nodeKey(step: number, kind: NodeKind, value: string | null): string {
  return JSON.stringify([step, kind, value]);
}

export const keyOf = ({ step, kind, value }: WayNode): string => nodeKey(step, kind, value);
export const fromKey = ({ step, fromKind, from }: WayLink): string => nodeKey(step, fromKind, from);
export const toKey = ({ step, toKind, to }: WayLink): string => nodeKey(step + 1, toKind, to);

/** Whether the node is one page or event, not others or an end. */
export function isSingleValue({ kind }: Pick<WayNode, "kind">): boolean {
  return kind === "path" || kind === "name";
}

/** A node's label. */
export function valueText(kind: NodeKind, value: string | null, isBackward = false): string {
  if (kind === "other") return "Others";
  if (kind === "end") return isBackward ? "Begins here" : "Ends here";
  if (value === null) return "(a page without a path)";
  return kind === "path" ? readablePath(value) : value;
}

/**
 * The most frequent way to a node, which is its last: as far back as single values reach.
 */
export function wayTo(reply: Pick<JourneysReply, "nodes" | "links">, node: WayNode): WayNode[] {
  const nodes = new Map(reply.nodes.map((each) => [keyOf(each), each]));
  const way = [node];
  for (let at = node; at.step > 1;) {
    const largest = reply.links
      .filter((link) => toKey(link) === keyOf(at) && isSingleValue({ kind: link.fromKind }))
      .reduce<WayLink | null>((most, link) => link.count > (most?.count ?? 0) ? link : most, null);
    const before = largest === null ? undefined : nodes.get(fromKey(largest));
    if (before === undefined) break;
    way.unshift(before);
    at = before;
  }
  return way;
}

/** The events of a single value. */
function matchOf({ kind, value }: WayNode): EventMatch {
  if (kind === "name") return { name: value, filters: [] };
  return { name: "page_view", filters: [hasValue("path", value)] };
}

/** The steps of a funnel along a way, in chronological order; empty if there are fewer than two. */
export function funnelSteps(way: readonly WayNode[], isBackward: boolean): readonly EventMatch[] {
  const steps = way.filter(isSingleValue);
  if (steps.length < 2) return [];
  return (isBackward ? steps.toReversed() : steps).map(matchOf);
}

/** A node as the start or the end of other ways; null: it is not a single value. */
export function placeOf(node: WayNode): JourneyPlace | null {
  if (!isSingleValue(node) || node.value === null) return null;
  return node.kind === "path"
    ? { kind: "page", path: node.value }
    : { kind: "event", match: { name: node.value, filters: [] } };
}

/** The number of a node, or of a link with both its nodes, as lists of visits and people take it. */
export function numberOfWay(question: Question, way: readonly WayPlace[]): NumberOf {
  const { start, end, by, steps, top, scope, window } = question;
  const [from, to] = [textOfPlace(start), textOfPlace(end)];
  const own = {
    ...from === null ? {} : { start: from },
    ...to === null ? {} : { end: to },
    by,
    steps,
    top,
    scope,
    ...scope === "actor" ? { window } : {},
  };
  const places = way.map(({ step, kind, value = null }): WayPlace =>
    kind === "other" || kind === "end" ? { step, kind } : { step, kind, value }
  );
  return { read: "journeys", ...own, place: { way: places } };
}

/** Both ends of a link. */
export function endsOf({ step, from, fromKind, to, toKind }: WayLink): readonly WayPlace[] {
  return [{ step, kind: fromKind, value: from }, { step: step + 1, kind: toKind, value: to }];
}
