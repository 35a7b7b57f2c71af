/** What the endpoints of projects and keys reply. */

export type IpStorage = "full" | "truncated" | "none";

export interface Project {
  readonly id: string;
  readonly name: string;
  readonly siteUrl: string | null;
  readonly timezone: string;
  /** Empty: any origin. */
  readonly allowedOrigins: readonly string[];
  /** Null: as the server is set up. */
  readonly ipStorage: IpStorage | null;
  /** Null: for ever. */
  readonly retentionDays: number | null;
}

export interface Key {
  readonly id: string;
  readonly kind: "public" | "secret";
  readonly label: string | null;
  /** Its last four characters. */
  readonly hint: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly status: "active" | "expired" | "revoked";
}

/** A key at the one moment at which it can be seen. */
export interface CreatedKey extends Key {
  readonly key: string;
}

export interface KeysReply {
  readonly keys: readonly Key[];
}

/** A key as people tell it from others. */
export function keyName({ label, hint }: Key): string {
  return `${label ?? "Unnamed"} (…${hint})`;
}

/** Every time zone that the browser knows, for suggestions. */
export function knownTimezones(): readonly string[] {
  return ["UTC", ...Intl.supportedValuesOf("timeZone").filter((name) => name !== "UTC")];
}
