/** What the endpoints of projects and keys reply. */

import type { output } from "zod";
import type { KeyCreated, KeyShown } from "../../auth/key_endpoints.ts";
import type { ProjectShown } from "../../auth/projects.ts";

export type Project = output<typeof ProjectShown>;
export type IpStorage = NonNullable<Project["ipStorage"]>;
export type Key = output<typeof KeyShown>;

/** A new key, which the reply has in full. */
export type CreatedKey = output<typeof KeyCreated>;

export interface KeysReply {
  readonly keys: readonly Key[];
}

/** The name of a key in lists. */
export function keyName({ label, hint }: Key): string {
  return `${label ?? "Unnamed"} (…${hint})`;
}

/** Every time zone that the browser knows, for suggestions. */
export function knownTimezones(): readonly string[] {
  return ["UTC", ...Intl.supportedValuesOf("timeZone").filter((name) => name !== "UTC")];
}
