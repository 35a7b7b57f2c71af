/// <reference lib="dom" />
import { dateIn } from "./location_query.ts";
import { effectiveTimezone } from "./location_state.ts";
import { dateSpan } from "./number_format.ts";
import type { Compared } from "./replies.ts";

/** What figures are compared with: the segment's title, or the dates, both inclusive. */
export function comparedName({ from, to, segment }: Compared): string {
  if (segment !== undefined) return segment.title;
  const zone = effectiveTimezone.value;
  return dateSpan(dateIn(zone, Date.parse(from)), dateIn(zone, Date.parse(to) - 1));
}

/** Says what changes compare with; empty if nothing is compared. */
export function ComparedNote({ previous }: { previous: Compared | undefined }) {
  if (previous === undefined) return null;
  return <p class="muted compared-note">Changes are against {comparedName(previous)}.</p>;
}
