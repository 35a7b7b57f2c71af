/** A table whose rows an archive contains, beside the events. The database provides its columns. */
export interface ArchivedTable {
  readonly name: string;
  /** Whether each of its rows belongs to a project, or to the whole server. */
  readonly of: "project" | "server";
  /** The key of a row within its project. It orders rows so that parents come first. */
  readonly key: readonly string[];
  /** Columns without meaning in another database, such as a generated number. */
  readonly leaves?: readonly string[];
  /** References of a row: without the rows that it refers to, it is not restored. */
  readonly needs?: readonly { readonly column: string; readonly table: string }[];
  /** Rows are stored one by one, because they are large, or refer to other rows of the same table. */
  readonly oneByOne?: true;
  /** Rows are many, and no row refers to them: they are read page by page, each page in its own snapshot. */
  readonly paged?: true;
  /** SQL conditions for the rows that are archived, and for those that are restored; alias t. */
  readonly where?: string;
  readonly stored?: string;
  /** The table contains credentials: only an archive with secrets contains it. */
  readonly secret?: true;
  /** Only a move copies the rows: if two servers had them, both would act on them. */
  readonly moved?: true;
}

const OF_PERSON = [{ column: "person_id", table: "people" }] as const;

/** The archived tables, in the order in which they are stored. */
export const ARCHIVED_TABLES: readonly ArchivedTable[] = [
  { name: "projects", of: "project", key: ["public_id"], leaves: ["project_id", "site_host"] },
  { name: "api_keys", of: "project", key: ["key_id"] },
  { name: "saved_funnels", of: "project", key: ["slug"] },
  { name: "goals", of: "project", key: ["slug"] },
  { name: "notes", of: "project", key: ["note_id"] },
  { name: "saved_segments", of: "project", key: ["slug"] },
  { name: "shares", of: "project", key: ["share_id"] },
  { name: "digests", of: "project", key: ["slug"], leaves: ["claimed_until"] },
  { name: "alerts", of: "project", key: ["slug"], leaves: ["claimed_until"] },
  // They contain secrets that sign messages; addresses of chats are secrets, too.
  { name: "webhooks", of: "project", key: ["slug"], secret: true },
  // Messages that were sent or are waiting. They keep their numbers, which are the order of sending.
  {
    name: "deliveries",
    of: "project",
    key: ["delivery_no"],
    leaves: ["claimed_until"],
    paged: true,
    secret: true,
    moved: true,
  },
  { name: "imported_days", of: "project", key: ["day", "source", "dimension"], paged: true },
  { name: "captures", of: "project", key: ["capture_id"], oneByOne: true, paged: true },
  { name: "capture_pages", of: "project", key: ["path_digest", "device"], paged: true },
  { name: "capture_selections", of: "project", key: [] },
  { name: "people", of: "server", key: ["person_id"] },
  { name: "passkeys", of: "server", key: ["credential_id"], needs: OF_PERSON },
  { name: "oidc_identities", of: "server", key: ["issuer", "subject"], needs: OF_PERSON },
  {
    name: "api_tokens",
    of: "server",
    key: ["created_at", "token_id"],
    needs: [...OF_PERSON, { column: "parent_id", table: "api_tokens" }],
    oneByOne: true,
  },
  {
    name: "daily_salts",
    of: "server",
    key: ["day"],
    // Salts that were deleted since the archive was made, or soon will be, stay deleted.
    stored: "t.day >= (now() AT TIME ZONE 'UTC')::date - 1",
  },
  {
    name: "audit",
    of: "server",
    key: ["at", "who", "what", "subject"],
    leaves: ["audit_id"],
    paged: true,
  },
  {
    name: "settings",
    of: "server",
    key: ["name"],
    where: "t.name NOT LIKE 'restored:%' AND t.name NOT LIKE 'move:%'",
    secret: true,
  },
  { name: "token_epochs", of: "server", key: ["epoch"], secret: true },
  { name: "person_links", of: "server", key: ["token_hash"], needs: OF_PERSON, secret: true },
  { name: "person_sessions", of: "server", key: ["session_id"], needs: OF_PERSON, secret: true },
];

/** Tables that no archive contains. */
export const LEFT_TABLES: readonly string[] = [
  // The database's own.
  "schema_migrations",
  // An upgrade under way: it is waited for.
  ...["earlier_events", "earlier_projects"],
  // Their events are archived as events.
  ...["journal", "segments"],
  // Made of the events.
  ...["event_ids", "projections", "identities", "actors", "sessions"],
  ...["terms", "technical_names", "referrers", "contexts", "traffic"],
  ...["day_totals", "session_durations", "visitor_days", "acquisition_days"],
  // Work under way: what is due is asked for anew.
  ...["capture_jobs", "capture_tasks", "capture_job_tasks", "capture_lease"],
  // Of the last minutes.
  ...["sign_in_attempts", "used_challenges"],
];

/** Returns the archived table with this name; null: there is none. */
export function archivedTable(name: string): ArchivedTable | null {
  return ARCHIVED_TABLES.find((table) => table.name === name) ?? null;
}
