/**
 * A line of a file of events in NDJSON, as `GET /v1/events` and `footfall export` write it and an import
 * takes it. It contains all that is stored of an event, so that importing an export restores every column.
 */

/** A size in CSS pixels; null: unknown. */
export interface Size {
  readonly width: number | null;
  readonly height: number | null;
}

/** The place of an address, as far as it is known. */
export interface GeoPlace {
  readonly country: string | null;
  readonly region: string | null;
  readonly city: string | null;
}

/** The server's member among the properties of an event in every reply. */
interface ServerProperties {
  readonly ip: string | null;
  /** 16 bytes as 22 characters of URL-safe Base64. */
  readonly hash: string;
  /** Null: the address is private, or there is none. */
  readonly geo: GeoPlace | null;
  readonly ingestedAt: string;
}

/** All that the server derived from the request of an event. */
export interface ServerMembers extends ServerProperties {
  readonly browser: string | null;
  readonly os: string | null;
  readonly device: "desktop" | "tablet" | "mobile" | "other" | null;
  /** Whether its user agent is a bot's; null: there was none. */
  readonly bot: boolean | null;
}

/** The campaign in the address. `clickId` is the name of a parameter, such as `gclid`. */
export interface Campaign {
  readonly source: string | null;
  readonly medium: string | null;
  readonly campaign: string | null;
  readonly term: string | null;
  readonly content: string | null;
  readonly clickId: string | null;
}

/** An event as it is shown and exported. Times are ISO 8601 in UTC, to the millisecond. */
export interface ExportedEvent {
  readonly eventId: string;
  readonly name: string;
  /** When it happened, corrected as `clock` says. */
  readonly timestamp: string;
  /** The time that the client sent, if `timestamp` differs from it. */
  readonly sentTimestamp: string | null;
  readonly clock: "client" | "corrected" | "clamped" | "received";
  readonly anonymousId: string | null;
  readonly userId: string | null;
  readonly sessionId: string | null;
  readonly url: string | null;
  readonly path: string | null;
  readonly referrer: string | null;
  readonly title: string | null;
  readonly properties: Readonly<Record<string, unknown>> & { readonly server: ServerProperties };
  readonly context: {
    readonly viewport: Size | null;
    readonly screen: Size | null;
    readonly locale: string | null;
    readonly timezone: string | null;
  };
  readonly campaign: Campaign;
  readonly browser: ServerMembers["browser"];
  readonly os: ServerMembers["os"];
  readonly device: ServerMembers["device"];
  readonly bot: ServerMembers["bot"];
  /** False: it neither opens nor extends a visit. */
  readonly inSession: boolean;
  /** Unknown members that it was sent with; those of its context are in `extra.context`. */
  readonly extra: Readonly<Record<string, unknown>> | null;
  readonly server: ServerMembers;
}

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
  readonly campaign?: Partial<Campaign> | null;
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
