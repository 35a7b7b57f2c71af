import { createHash } from "node:crypto";
import { classifyTraffic } from "../attribution/channels.ts";
import { foreignHost, hostOfAddress } from "../attribution/host.ts";
import { arrayLiteral, type Param, type Row, type Sql } from "../db/sql.ts";
import type { EventColumns } from "../store/event_columns.ts";
import type { EventRow } from "../store/event_row.ts";
import type { EventBatch } from "../store/event_source.ts";
import { KNOWN_CHARACTERS_MAX, KNOWN_TEXTS_MAX } from "./projection_limits.ts";

/** Raised with every change of the channel rules or source lists: history is then classified anew. */
export const RULES_VERSION = 2;

/** The names that queries know by number. */
const RESERVED = [[1, "page_view"], [2, "click"], [3, "scroll"]] as const;

type Value = string | boolean | null;

const NEEDS_QUOTES = /^$|[ \t\n\v\f\r"\\(),]/;

/** Values as PostgreSQL writes a row of them: what digests of the dictionaries are made of. */
export function rowText(values: readonly Value[]): string {
  const fields = values.map((value) => {
    if (value === null) return "";
    if (typeof value === "boolean") return value ? "t" : "f";
    return NEEDS_QUOTES.test(value) ? `"${value.replace(/["\\]/g, "$&$&")}"` : value;
  });
  return `(${fields.join(",")})`;
}

/** What a text is looked up by: 128 bits of its SHA-256, as a UUID without its hyphens. */
export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

/** A dictionary: each distinct text once, with its number. */
interface Dictionary {
  readonly table: "terms" | "referrers" | "contexts" | "traffic";
  readonly number: string;
  /** Columns beside the project, the number and the digest, and their types. */
  readonly columns: readonly string[];
}

const TERMS: Dictionary = { table: "terms", number: "term_id", columns: ["term"] };
const REFERRERS: Dictionary = {
  table: "referrers",
  number: "referrer_id",
  columns: ["address", "host"],
};
const CONTEXTS: Dictionary = {
  table: "contexts",
  number: "context_id",
  columns: ["device", "host", "country", "region", "city", "browser", "os"],
};
const TRAFFIC_SAID = [
  "utm_source",
  "utm_medium",
  "utm_campaign",
  "utm_term",
  "utm_content",
  "click_id_kind",
  "referrer_host",
  "host",
] as const;
const TRAFFIC_TOLD = [
  "source",
  "medium",
  "campaign",
  "term",
  "content",
  "referrer",
  "channel",
  "rule",
] as const;
const TRAFFIC: Dictionary = {
  table: "traffic",
  number: "traffic_id",
  columns: [...TRAFFIC_SAID, ...TRAFFIC_TOLD],
};

// Looked up one by one: of a fresh project the planner knows nothing, and joins went through one
// side for each row of the other. First the last number that was given out.
const lookUp = ({ table, number }: Dictionary): string => `
SELECT 0 AS n, coalesce(greatest(max(${number}), -min(${number})), 0) AS id
FROM ${table} WHERE project_id = $1::int
UNION ALL
SELECT k.n::int, d.id
FROM unnest($2::text::uuid[]) WITH ORDINALITY AS k (digest, n)
CROSS JOIN LATERAL (
  SELECT ${number} AS id FROM ${table} WHERE project_id = $1::int AND digest = k.digest OFFSET 0) d`;

const typeOf = (column: string): string => column === "device" ? '"char"' : "text";

const add = ({ table, number, columns }: Dictionary): string => `
INSERT INTO ${table} (project_id, ${number}, digest, ${columns.join(", ")})
SELECT $1::int, a.* FROM unnest($2::text::int[], $3::text::uuid[], ${
  columns.map((column, i) => `$${i + 4}::text::${typeOf(column)}[]`).join(", ")
}) AS a`;

type TrafficSaid = Record<(typeof TRAFFIC_SAID)[number], string | null>;

/** What the channel rules make of it, in the order of TRAFFIC_TOLD. */
function classified(said: TrafficSaid, siteHost: string | null): (string | null)[] {
  const told = classifyTraffic({
    utmSource: said.utm_source,
    utmMedium: said.utm_medium,
    utmCampaign: said.utm_campaign,
    utmTerm: said.utm_term,
    utmContent: said.utm_content,
    clickIdKind: said.click_id_kind,
    referrerHost: said.referrer_host,
    host: said.host,
  }, siteHost);
  return TRAFFIC_TOLD.map((name) => told[name]);
}

/** One kind of what events say, and its numbers, as far as they are known. */
interface Known {
  readonly dictionary: Dictionary;
  readonly numbers: Map<string, number>;
}

/** A text that is not known yet: what its digest is made of, and its columns. */
interface Missing {
  readonly text: string;
  readonly isBot: boolean;
  readonly columns: readonly Param[];
}

/**
 * The dictionaries of one project: names, paths, titles, referrers, contexts and traffic by number.
 * What was looked up once is kept, so that most batches look nothing up.
 */
export class Dictionaries {
  readonly #terms: Known = { dictionary: TERMS, numbers: new Map() };
  readonly #referrers: Known = { dictionary: REFERRERS, numbers: new Map() };
  readonly #contexts: Known = { dictionary: CONTEXTS, numbers: new Map() };
  readonly #traffic: Known = { dictionary: TRAFFIC, numbers: new Map() };
  /** Terms that are told to be names of events. */
  readonly #names = new Set<string>();
  /** Names that begin with `$`: they are counted only where a question names them. */
  readonly technical = new Set<number>();
  #characters = 0;
  #isReserved = false;

  constructor(readonly siteHost: string | null) {}

  /** Whether more is kept than may be. */
  get isFull(): boolean {
    const kept = [this.#terms, this.#referrers, this.#contexts, this.#traffic];
    return this.#characters > KNOWN_CHARACTERS_MAX ||
      kept.reduce((sum, { numbers }) => sum + numbers.size, 0) > KNOWN_TEXTS_MAX;
  }

  /** Gives everything that the events say its number: what is new to the project is added. */
  async resolve(tx: Sql, projectId: number, columns: EventColumns): Promise<EventBatch["numbers"]> {
    const texts = TERM_COLUMNS.map((name) => columns.texts(name));
    const terms = new Map<string, Missing>();
    for (const text of texts.flatMap(({ values }) => values)) {
      if (this.#terms.numbers.has(text)) continue;
      terms.set(text, { text, isBot: false, columns: [text] });
    }
    const referrers = this.#said(this.#referrers, columns, REFERRER_COLUMNS, referrerOf);
    const contexts = this.#said(this.#contexts, columns, CONTEXT_COLUMNS, contextOf);
    const traffics = this.#said(
      this.#traffic,
      columns,
      TRAFFIC_COLUMNS,
      (row) => trafficOf(row, this.siteHost),
    );
    await this.#learn(tx, projectId, this.#terms, terms);
    await this.#learn(tx, projectId, this.#referrers, referrers.missing);
    await this.#learn(tx, projectId, this.#contexts, contexts.missing);
    await this.#learn(tx, projectId, this.#traffic, traffics.missing);
    const newNames = texts[0]!.values.filter((name) => !this.#names.has(name));
    if (newNames.length > 0) await this.#tellNames(tx, projectId, newNames);
    const [names, paths, titles] = texts.map(({ codes, values }) => {
      const numbers = [0, ...values.map((text) => this.#terms.numbers.get(text)!)];
      return codes.map((code) => numbers[code]!);
    });
    return {
      names: names!,
      paths: paths!,
      titles: titles!,
      referrers: referrers.numbers(),
      contexts: contexts.numbers(),
      traffics: traffics.numbers(),
    };
  }

  /** What events say in some columns, each once, as a dictionary knows it. */
  #said<N extends SaidColumn>(
    { numbers }: Known,
    columns: EventColumns,
    names: readonly N[],
    describe: (row: Pick<EventRow, N>) => Said | null,
  ) {
    const { codes, firsts } = columns.tuples(names);
    const missing = new Map<string, Missing>();
    const keys = firsts.map((i) => {
      const said = describe(columns.membersAt(names, i));
      if (said === null) return null;
      const key = keyOf(said.key);
      if (!numbers.has(key) && !missing.has(key)) missing.set(key, said.missing());
      return key;
    });
    return {
      missing,
      numbers: () => {
        const own = keys.map((key) => key === null ? 0 : numbers.get(key)!);
        return codes.map((code) => own[code]!);
      },
    };
  }

  /** Looks up what is missing, and adds what is not there. */
  async #learn(
    tx: Sql,
    projectId: number,
    { dictionary, numbers }: Known,
    missing: ReadonlyMap<string, Missing>,
  ): Promise<void> {
    if (missing.size === 0) return;
    const entries = [...missing].map(([key, found]) => ({
      key,
      found,
      digest: digestOf(found.text),
      id: 0,
    }));
    const rows = await tx.query<{ n: number; id: number }>(lookUp(dictionary), [
      projectId,
      arrayLiteral(entries.map(({ digest }) => digest)),
    ]);
    let last = 0;
    for (const { n, id } of rows) {
      if (n === 0) last = id;
      else entries[n - 1]!.id = id;
    }
    const added = entries.filter(({ id }) => id === 0);
    for (const entry of added) entry.id = entry.found.isBot ? -++last : ++last;
    for (const { key, id } of entries) {
      numbers.set(key, id);
      this.#characters += key.length;
    }
    if (added.length === 0) return;
    await tx.query(add(dictionary), [
      projectId,
      arrayLiteral(added.map(({ id }) => id)),
      arrayLiteral(added.map(({ digest }) => digest)),
      ...dictionary.columns.map((_, i) =>
        arrayLiteral(added.map(({ found }) => found.columns[i] ?? null))
      ),
    ]);
  }

  /** Reads what must be known before all else, and sees to the numbers that queries know. */
  async open(tx: Sql, projectId: number): Promise<void> {
    if (this.#isReserved) return;
    await tx.query(
      `INSERT INTO terms (project_id, term_id, digest, term)
      SELECT $1::int, a.* FROM unnest($2::text::int[], $3::text::uuid[], $4::text::text[]) AS a
      ON CONFLICT DO NOTHING`,
      [
        projectId,
        arrayLiteral(RESERVED.map(([id]) => id)),
        arrayLiteral(RESERVED.map(([, name]) => digestOf(name))),
        arrayLiteral(RESERVED.map(([, name]) => name)),
      ],
    );
    for (const [id, name] of RESERVED) this.#terms.numbers.set(name, id);
    const technical = await tx.query<{ term_id: number }>(
      "SELECT term_id FROM technical_names WHERE project_id = $1::int",
      [projectId],
    );
    for (const { term_id } of technical) this.technical.add(term_id);
    this.#isReserved = true;
  }

  /** Says of terms that they are names, and which of them are technical: those that begin with `$`. */
  async #tellNames(tx: Sql, projectId: number, names: readonly string[]): Promise<void> {
    await tx.query(
      `WITH named AS (
        UPDATE terms SET is_name = true
        WHERE project_id = $1::int AND term_id = ANY ($2::text::int[]) AND NOT is_name
        RETURNING term_id, term
      )
      INSERT INTO technical_names (project_id, term_id, name)
      SELECT $1::int, term_id, term FROM named WHERE term LIKE '$%' ON CONFLICT DO NOTHING`,
      [projectId, arrayLiteral(names.map((name) => this.#terms.numbers.get(name)!))],
    );
    for (const name of names) {
      this.#names.add(name);
      if (name.startsWith("$")) this.technical.add(this.#terms.numbers.get(name)!);
    }
  }
}

/** Texts as one: none holds what parts them, or stands for no text. */
function keyOf(values: readonly Value[]): string {
  return values.map((value) => value === null ? "\0-" : value).join("\0,");
}

/** What a row says of one kind, and how it is added where it is new. */
interface Said {
  readonly key: readonly Value[];
  readonly missing: () => Missing;
}

const TERM_COLUMNS = ["name", "path", "title"] as const;
const REFERRER_COLUMNS = ["referrer", "host"] as const;
const CONTEXT_COLUMNS = [
  ...["bot", "device", "host", "country", "region", "city", "browser", "os"] as const,
];
const TRAFFIC_COLUMNS = [
  ...["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"] as const,
  ...["click_id_kind", "referrer", "host", "in_session"] as const,
];
type SaidColumn = (typeof CONTEXT_COLUMNS | typeof TRAFFIC_COLUMNS)[number];

function referrerOf({ referrer, host }: Pick<EventRow, "referrer" | "host">): Said | null {
  if (referrer === null) return null;
  return {
    key: [referrer, host],
    missing: () => ({
      text: rowText([referrer, host]),
      isBot: false,
      columns: [referrer, foreignHost(referrer, host)],
    }),
  };
}

function contextOf(row: Pick<EventRow, (typeof CONTEXT_COLUMNS)[number]>): Said {
  const isBot = row.bot === true;
  const columns = [row.device, row.host, row.country, row.region, row.city, row.browser, row.os];
  const key = [isBot, ...columns];
  return { key, missing: () => ({ text: rowText(key), isBot, columns }) };
}

function trafficOf(
  row: Pick<EventRow, (typeof TRAFFIC_COLUMNS)[number]>,
  siteHost: string | null,
): Said | null {
  if (!row.in_session) return null;
  const facts = { ...row, referrer_host: hostOfAddress(row.referrer) };
  const key = TRAFFIC_SAID.map((name) => facts[name]);
  const columns = () => [...key, ...classified(facts, siteHost)];
  return { key, missing: () => ({ text: rowText(key), isBot: false, columns: columns() }) };
}

/** Classifies all traffic of a project again, after its site or the rules have changed. */
export async function reclassifyTraffic(
  tx: Sql,
  projectId: number,
  siteHost: string | null,
): Promise<void> {
  const rows = await tx.query<TrafficSaid & Row & { traffic_id: number }>(
    `SELECT traffic_id, ${TRAFFIC_SAID.join(", ")} FROM traffic WHERE project_id = $1::int`,
    [projectId],
  );
  if (rows.length === 0) return;
  const told = rows.map((row) => classified(row, siteHost));
  await tx.query(
    `UPDATE traffic t SET ${TRAFFIC_TOLD.map((name) => `${name} = a.${name}`).join(", ")}
    FROM unnest($2::text::int[], ${
      TRAFFIC_TOLD.map((_, i) => `$${i + 3}::text::text[]`).join(", ")
    }) AS a (traffic_id, ${TRAFFIC_TOLD.join(", ")})
    WHERE t.project_id = $1::int AND t.traffic_id = a.traffic_id`,
    [
      projectId,
      arrayLiteral(rows.map(({ traffic_id }) => traffic_id)),
      ...TRAFFIC_TOLD.map((_, i) => arrayLiteral(told.map((row) => row[i]!))),
    ],
  );
}
