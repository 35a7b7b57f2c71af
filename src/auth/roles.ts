import type { Scope } from "./access.ts";

/** The roles of people, from most to fewest rights. */
export const ROLES = ["owner", "admin", "editor", "viewer"] as const;
export type Role = typeof ROLES[number];

/** What each role may do. An owner may do it in every project. */
const SCOPES_OF_ROLE: Readonly<Record<Role, readonly Scope[]>> = {
  owner: ["read", "write", "jobs", "admin", "people"],
  admin: ["read", "write", "jobs", "admin"],
  editor: ["read", "write"],
  viewer: ["read"],
};

/** The scopes of a role. */
export function scopesOf(role: Role): readonly Scope[] {
  return SCOPES_OF_ROLE[role];
}
