/**
 * A line of a file of events in NDJSON, as `GET /v1/events` and `footfall export` write it and an import
 * takes it. It contains all that is stored of an event, so that importing an export restores every column.
 */

import type { output } from "zod";
import type { EventShown } from "./exported_event_schema.ts";

/** An event as it is shown and exported. Times are ISO 8601 in UTC, to the millisecond. */
export type ExportedEvent = Readonly<output<typeof EventShown>>;

/** All that the server derived from the request of an event. */
type ServerMembers = ExportedEvent["server"];

/** A size in CSS pixels; null: unknown. */
export type Size = NonNullable<ExportedEvent["context"]["screen"]>;

/** The place of an address, as far as it is known. */
export type GeoPlace = NonNullable<ServerMembers["geo"]>;

type MaybeGiven<T> = { readonly [N in keyof T]?: T[N] | null };
type GivenMember =
  | ("name" | "anonymousId" | "userId" | "sessionId" | "url" | "path" | "referrer" | "title")
  | ("inSession" | "extra");

/**
 * A line as an import takes it: an exported event, or one converted from another product. `server`, `clock`,
 * `campaign` and `inSession` are stored unchanged. Members that `server` lacks are derived from `context.ip` and
 * `context.userAgent`; a line without `server` is treated as ingestion treats an event.
 */
export interface ImportedEvent extends MaybeGiven<Pick<ExportedEvent, GivenMember>> {
  readonly eventId: string;
  readonly timestamp?: string | number | null;
  readonly sentTimestamp?: string | number | null;
  /** With it, `timestamp` is stored unchanged; without it, `timestamp` counts as a client's, sent right now. */
  readonly clock?: ExportedEvent["clock"] | null;
  readonly properties?: Readonly<Record<string, unknown>> | null;
  readonly context?: {
    readonly viewport?: Size | null;
    readonly screen?: Size | null;
    readonly locale?: string | null;
    readonly timezone?: string | null;
    readonly ip?: string | null;
    readonly userAgent?: string | null;
  } | null;
  /** Missing members are read from `url`. */
  readonly campaign?: Partial<ExportedEvent["campaign"]> | null;
  /** `geo: null`: the place is unknown. */
  readonly server?: Partial<Omit<ServerMembers, "geo">> & {
    readonly geo?: Partial<GeoPlace> | null;
  };
}

/** The properties that the event was sent with. */
export function ownProperties({ properties }: ExportedEvent): Readonly<Record<string, unknown>> {
  const { server: _, ...own } = properties;
  return own;
}
