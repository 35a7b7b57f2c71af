import { createHash } from "node:crypto";
import { classifyTraffic } from "../attribution/channels.ts";
import { foreignHost, hostOfAddress } from "../attribution/host.ts";
import { arrayLiteral, isOneOf, type Param, type Row, type Sql } from "../db/sql.ts";
import { RESERVED_NAMES } from "../reserved_terms.ts";
import type { EventColumns } from "../store/event_columns.ts";
import type { EventRow } from "../store/event_row.ts";
import type { EventBatch } from "../store/batch_columns.ts";
import { numbersOfCodes } from "./numbers_of_codes.ts";
import {
  DICTIONARY_ROWS_AT_ONCE,
  KNOWN_CHARACTERS_MAX,
  KNOWN_TEXTS_MAX,
} from "./projection_limits.ts";

/** Incremented with every change of the channel rules or source lists, which reclassifies all history. */
export const RULES_VERSION = 2;

type Value = string | boolean | null;

const NEEDS_QUOTES = /^$|[ \t\n\v\f\r"\\(),]/;

/** Formats values as PostgreSQL formats a row of them; the digests of dictionary rows are of this text. */
export function rowText(values: readonly Value[]): string {
  const fields = values.map((value) => {
    if (value === null) return "";
    if (typeof value === "boolean") return value ? "t" : "f";
    return NEEDS_QUOTES.test(value) ? `"${value.replace(/["\\]/g, "$&$&")}"` : value;
  });
  return `(${fields.join(",")})`;
}

/** Returns the lookup key of a text: 128 bits of its SHA-256, as a UUID without hyphens. */
export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

/** A dictionary table: each distinct entry once, with its number. */
export interface Dictionary {
  readonly table: "terms" | "referrers" | "contexts" | "traffic";
  /** The column of the number. */
  readonly number: string;
  /** The columns beside the project, the number and the digest. */
  readonly columns: readonly string[];
}

const TERMS: Dictionary = { table: "terms", number: "term_id", columns: ["term"] };
const REFERRERS: Dictionary = {
  table: "referrers",
  number: "referrer_id",
  columns: ["address", "host"],
};
export const CONTEXTS: Dictionary = {
  table: "contexts",
  number: "context_id",
  columns: ["device", "host", "country", "region", "city", "browser", "os"],
};
const TAGS = [
  ...["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"] as const,
  "click_id_kind",
] as const;
const TRAFFIC_INPUTS = [...TAGS, "referrer_host", "host"] as const;
const TRAFFIC_RESULTS = [
  "source",
  "medium",
  "campaign",
  "term",
  "content",
  "referrer",
  "channel",
  "rule",
] as const;
export const TRAFFIC: Dictionary = {
  table: "traffic",
  number: "traffic_id",
  columns: [...TRAFFIC_INPUTS, ...TRAFFIC_RESULTS],
};

// A lateral lookup per digest, because the planner has no statistics of a new project and would choose nested
// scans for a join. It does not see which project it is: one that its statistics of others do not know would have
// no rows, and each digest be searched among all of them. The first row is the last assigned number.
const lookUp = ({ table, number }: Dictionary): string => `
SELECT 0 AS n, coalesce(greatest(max(${number}), -min(${number})), 0) AS id
FROM ${table} WHERE project_id = (SELECT $1::int)
UNION ALL
SELECT k.n::int, d.id
FROM unnest($2::text::uuid[]) WITH ORDINALITY AS k (digest, n)
CROSS JOIN LATERAL (
  SELECT ${number} AS id FROM ${table}
  WHERE project_id = (SELECT $1::int) AND digest = k.digest OFFSET 0) d`;

const typeOf = (column: string): string => column === "device" ? '"char"' : "text";

const add = ({ table, number, columns }: Dictionary): string => `
INSERT INTO ${table} (project_id, ${number}, digest, ${columns.join(", ")})
SELECT $1::int, a.* FROM unnest($2::text::int[], $3::text::uuid[], ${
  columns.map((column, i) => `$${i + 4}::text::${typeOf(column)}[]`).join(", ")
}) AS a`;

type TrafficInputs = Record<(typeof TRAFFIC_INPUTS)[number], string | null>;

/** Applies the channel rules. @returns values in the order of TRAFFIC_RESULTS */
function classified(inputs: TrafficInputs, siteHost: string | null): (string | null)[] {
  const results = classifyTraffic({
    utmSource: inputs.utm_source,
    utmMedium: inputs.utm_medium,
    utmCampaign: inputs.utm_campaign,
    utmTerm: inputs.utm_term,
    utmContent: inputs.utm_content,
    clickIdKind: inputs.click_id_kind,
    referrerHost: inputs.referrer_host,
    host: inputs.host,
  }, siteHost);
  return TRAFFIC_RESULTS.map((name) => results[name]);
}

/** A dictionary with the numbers that are cached, by key. */
interface CachedDictionary {
  readonly dictionary: Dictionary;
  readonly numbers: Map<string, number>;
}

/** An entry whose number is not cached: the text to digest, and its columns. */
interface MissingEntry {
  readonly text: string;
  readonly isBot: boolean;
  readonly columns: readonly Param[];
}

/**
 * The dictionaries of one project, which number its names, paths, titles, referrers, contexts and traffic.
 * Numbers are cached, so that most batches look nothing up.
 */
export class Dictionaries {
  readonly #terms: CachedDictionary = { dictionary: TERMS, numbers: new Map() };
  readonly #referrers: CachedDictionary = { dictionary: REFERRERS, numbers: new Map() };
  readonly #contexts: CachedDictionary = { dictionary: CONTEXTS, numbers: new Map() };
  readonly #traffic: CachedDictionary = { dictionary: TRAFFIC, numbers: new Map() };
  /** Terms that are marked as names of events. */
  readonly #names = new Set<string>();
  /** Numbers of names that begin with `$`: they are counted only where a query names them. */
  readonly technical = new Set<number>();
  #characters = 0;

  constructor(readonly siteHost: string | null) {}

  /** The size of the cache, in texts of average length; it is full at `KNOWN_TEXTS_MAX`. */
  get entries(): number {
    const cached = [this.#terms, this.#referrers, this.#contexts, this.#traffic];
    const texts = cached.reduce((sum, { numbers }) => sum + numbers.size, 0);
    return Math.max(texts, this.#characters * KNOWN_TEXTS_MAX / KNOWN_CHARACTERS_MAX);
  }

  /** Whether the cache exceeds its limits. */
  get isFull(): boolean {
    return this.entries > KNOWN_TEXTS_MAX;
  }

  /** Returns the numbers of all dictionary columns of the events; new entries are added to the tables. */
  async resolve(tx: Sql, projectId: number, columns: EventColumns): Promise<EventBatch["numbers"]> {
    const texts = TERM_COLUMNS.map((name) => columns.texts(name));
    const terms = new Map<string, MissingEntry>();
    for (const text of texts.flatMap(({ values }) => values)) {
      if (this.#terms.numbers.has(text)) continue;
      terms.set(text, { text, isBot: false, columns: [text] });
    }
    const referrers = this.#entriesIn(this.#referrers, columns, REFERRER_COLUMNS, referrerOf);
    const contexts = this.#entriesIn(this.#contexts, columns, CONTEXT_COLUMNS, contextOf);
    const traffics = this.#entriesIn(
      this.#traffic,
      columns,
      TRAFFIC_COLUMNS,
      (row) => trafficOf(row, this.siteHost),
    );
    await this.#resolveMissing(tx, projectId, this.#terms, terms);
    await this.#resolveMissing(tx, projectId, this.#referrers, referrers.missing);
    await this.#resolveMissing(tx, projectId, this.#contexts, contexts.missing);
    await this.#resolveMissing(tx, projectId, this.#traffic, traffics.missing);
    const newNames = texts[0]!.values.filter((name) => !this.#names.has(name));
    if (newNames.length > 0) await this.#markNames(tx, projectId, newNames);
    const [names, paths, titles] = texts.map(({ codes, values }) => {
      const numbers = [0, ...values.map((text) => this.#terms.numbers.get(text)!)];
      return numbersOfCodes(codes, numbers);
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

  /** Groups events by the dictionary entry that these columns form; reports entries that are not cached. */
  #entriesIn<N extends EntryColumn>(
    { numbers }: CachedDictionary,
    columns: EventColumns,
    names: readonly N[],
    entryOf: (row: Pick<EventRow, N>) => DictionaryEntry | null,
  ) {
    const { codes, firsts } = columns.tuples(names);
    const missing = new Map<string, MissingEntry>();
    const keys = firsts.map((i) => {
      const entry = entryOf(columns.membersAt(names, i));
      if (entry === null) return null;
      const key = keyOf(entry.key);
      if (!numbers.has(key) && !missing.has(key)) missing.set(key, entry.missing());
      return key;
    });
    return {
      missing,
      /** To be called once no entry is missing. */
      numbers: () => {
        const numberOf = keys.map((key) => key === null ? 0 : numbers.get(key)!);
        return numbersOfCodes(codes, numberOf);
      },
    };
  }

  /** Looks up missing entries, adds those that the table lacks, and caches their numbers. */
  async #resolveMissing(
    tx: Sql,
    projectId: number,
    { dictionary, numbers }: CachedDictionary,
    missing: ReadonlyMap<string, MissingEntry>,
  ): Promise<void> {
    if (missing.size === 0) return;
    const entries = [...missing].map(([key, { text, isBot, columns }]) => ({
      key,
      isBot,
      columns,
      digest: digestOf(text),
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
    for (const entry of added) entry.id = entry.isBot ? -++last : ++last;
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
        arrayLiteral(added.map(({ columns }) => columns[i] ?? null))
      ),
    ]);
  }

  /** Adds the reserved names, and reads the technical ones; to be called once, before `resolve`. */
  async open(tx: Sql, projectId: number): Promise<void> {
    await tx.query(
      `INSERT INTO terms (project_id, term_id, digest, term)
      SELECT $1::int, a.* FROM unnest($2::text::int[], $3::text::uuid[], $4::text::text[]) AS a
      ON CONFLICT DO NOTHING`,
      [
        projectId,
        arrayLiteral(RESERVED_NAMES.map((_, i) => i + 1)),
        arrayLiteral(RESERVED_NAMES.map(digestOf)),
        arrayLiteral(RESERVED_NAMES),
      ],
    );
    for (const [i, name] of RESERVED_NAMES.entries()) this.#terms.numbers.set(name, i + 1);
    const technical = await tx.query<{ term_id: number }>(
      "SELECT term_id FROM technical_names WHERE project_id = $1::int",
      [projectId],
    );
    for (const { term_id } of technical) this.technical.add(term_id);
  }

  /** Marks terms as names of events, and names that begin with `$` as technical. */
  async #markNames(tx: Sql, projectId: number, names: readonly string[]): Promise<void> {
    await tx.query(
      `WITH named AS (
        UPDATE terms SET is_name = true
        WHERE project_id = (SELECT $1::int) AND ${
        isOneOf("term_id", "$2::text::int[]")
      } AND NOT is_name
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

/** Joins values into one key. No value contains the separator or the null mark. */
function keyOf(values: readonly Value[]): string {
  return values.map((value) => value === null ? "\0-" : value).join("\0,");
}

interface DictionaryEntry {
  readonly key: readonly Value[];
  /** Called only if the entry is not cached. */
  readonly missing: () => MissingEntry;
}

const TERM_COLUMNS = ["name", "path", "title"] as const;
const REFERRER_COLUMNS = ["referrer", "host"] as const;
const CONTEXT_COLUMNS = [
  ...["bot", "device", "host", "country", "region", "city", "browser", "os"] as const,
];
const TRAFFIC_COLUMNS = [...TAGS, "referrer", "host", "in_session"] as const;
type EntryColumn = (typeof CONTEXT_COLUMNS | typeof TRAFFIC_COLUMNS)[number];

function referrerOf(
  { referrer, host }: Pick<EventRow, "referrer" | "host">,
): DictionaryEntry | null {
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

function contextOf(row: Pick<EventRow, (typeof CONTEXT_COLUMNS)[number]>): DictionaryEntry {
  const isBot = row.bot === true;
  const columns = [row.device, row.host, row.country, row.region, row.city, row.browser, row.os];
  const key = [isBot, ...columns];
  return { key, missing: () => ({ text: rowText(key), isBot, columns }) };
}

function trafficOf(
  row: Pick<EventRow, (typeof TRAFFIC_COLUMNS)[number]>,
  siteHost: string | null,
): DictionaryEntry | null {
  if (!row.in_session) return null;
  const inputs = { ...row, referrer_host: hostOfAddress(row.referrer) };
  const key = TRAFFIC_INPUTS.map((name) => inputs[name]);
  const columns = () => [...key, ...classified(inputs, siteHost)];
  return { key, missing: () => ({ text: rowText(key), isBot: false, columns: columns() }) };
}

const TRAFFIC_PART = "project_id = $1::int AND traffic_id > $2::int AND traffic_id <= $3::int";

/** Reclassifies all traffic of a project, after its site or the rules have changed, part by part. */
export async function reclassifyTraffic(
  tx: Sql,
  projectId: number,
  siteHost: string | null,
): Promise<void> {
  const [last] = await tx.query<{ id: number | null }>(
    "SELECT max(traffic_id) AS id FROM traffic WHERE project_id = $1::int",
    [projectId],
  );
  for (let from = 0; from < (last?.id ?? 0); from += DICTIONARY_ROWS_AT_ONCE) {
    const part = [projectId, from, from + DICTIONARY_ROWS_AT_ONCE];
    const rows = await tx.query<TrafficInputs & Row & { traffic_id: number }>(
      `SELECT traffic_id, ${TRAFFIC_INPUTS.join(", ")} FROM traffic WHERE ${TRAFFIC_PART}`,
      part,
    );
    const results = rows.map((row) => classified(row, siteHost));
    await tx.query(RECLASSIFY, [
      projectId,
      arrayLiteral(rows.map(({ traffic_id }) => traffic_id)),
      ...TRAFFIC_RESULTS.map((_, i) => arrayLiteral(results.map((row) => row[i]!))),
    ]);
  }
}

const RECLASSIFY = `
UPDATE traffic t SET ${TRAFFIC_RESULTS.map((name) => `${name} = a.${name}`).join(", ")}
FROM unnest($2::text::int[], ${TRAFFIC_RESULTS.map((_, i) => `$${i + 3}::text::text[]`).join(", ")})
  AS a (traffic_id, ${TRAFFIC_RESULTS.join(", ")})
WHERE t.project_id = $1::int AND t.traffic_id = a.traffic_id`;
