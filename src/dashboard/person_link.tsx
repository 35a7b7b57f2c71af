/// <reference lib="dom" />
import { ViewLink } from "./view_link.tsx";

/** Longer ids are shown by their two ends. */
const WHOLE_MAX = 9;
const BEGIN = 2;
/**
 * Ids of the SDK begin with the time, the first four characters with that of some weeks. With six of their
 * end two of a hundred people look alike in 0.03% of lists, with four in 7%.
 */
const END = 6;

/** A person's name in lists: a user id whole, other ids by their two ends. */
export function personName(actor: string, userId: string | null): string {
  const characters = [...actor];
  if (userId !== null || characters.length <= WHOLE_MAX) return userId ?? actor;
  return `${characters.slice(0, BEGIN).join("")}…${characters.slice(-END).join("")}`;
}

/** A link to a person's page. */
export function PersonLink({ actor, userId }: { actor: string; userId: string | null }) {
  return (
    <ViewLink
      class={userId === null ? "person-link muted" : "person-link"}
      to={{ view: "people", params: { person: actor } }}
    >
      {personName(actor, userId)}
    </ViewLink>
  );
}
