/// <reference lib="dom" />
import { ViewLink } from "./view_link.tsx";

/** So much of an id tells people apart at a glance. */
const ID_LENGTH = 8;

/** A person as lists name one: a user whole, others by the first letters of their id. */
export function personName(actor: string, userId: string | null): string {
  return userId ?? actor.slice(0, ID_LENGTH);
}

/** The way to the page of a person. */
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
