/** What the endpoints of people, sessions and their audit reply. */

import type { output } from "zod";
import type { AccountShown, SessionsShown } from "../../auth/people/account_endpoints.ts";
import type { InvitationShown, PersonInvited } from "../../auth/people/people_endpoints.ts";
import type { PersonShown } from "../../auth/people/people.ts";
import type { Role } from "../../auth/roles.ts";

export type Person = output<typeof PersonShown>;

export interface PeopleReply {
  readonly people: readonly Person[];
}

/** Who is signed in: the reply of `GET /v1/auth/account`. */
export type AccountReply = output<typeof AccountShown>;

export type SessionsReply = output<typeof SessionsShown>;
/** A browser that is signed in to one's account. */
export type SignedIn = SessionsReply["sessions"][number];

/** A link that lets somebody in once. */
export type Invitation = output<typeof InvitationShown>;

export type InvitedReply = output<typeof PersonInvited>;

export const ROLE_CHOICES: readonly { value: Role; label: string; hint: string }[] = [
  { value: "viewer", label: "Viewer", hint: "Sees the numbers and changes nothing." },
  { value: "editor", label: "Editor", hint: "Saves funnels and goals too." },
  {
    value: "admin",
    label: "Admin",
    hint: "Changes the projects' settings, keys and people's data too.",
  },
  {
    value: "owner",
    label: "Owner",
    hint: "Everything, in every project: invites and removes people, reads the audit.",
  },
];

/** The label of a role. */
export function roleName(role: Role): string {
  return ROLE_CHOICES.find(({ value }) => value === role)?.label ?? role;
}
