import type { Scope } from "./access.ts";

/** What people may be, from all to least. */
export const ROLES = ["owner", "admin", "editor", "viewer"] as const;
export type Role = typeof ROLES[number];

/** The one table of what each role may do. An owner's projects are always all of them. */
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
