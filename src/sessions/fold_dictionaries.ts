import { arrayLiteral, type Sql } from "../db/sql.ts";
import { foreignHost, hostOfAddress } from "../referrer_host.ts";
import { classifyTraffic, type TrafficFacts } from "./channels.ts";
import { hashed } from "./hashed.ts";

/** Raised with every change of the channel rules or source lists: history is then classified anew. */
export const RULES_VERSION = 2;

/** What a text is looked up by: 128 bits of its SHA-256. `term` is a column, never a value. */
export const digestOf = (term: string): string =>
  `encode(substr(sha256(convert_to(${term}, 'UTF8')), 1, 16), 'hex')::uuid`;

const REFERRER_HOST = hostOfAddress("e.referrer");

export const CONTEXT_KEY =
  "ROW(e.bot IS TRUE, e.device, e.host, e.country, e.region, e.city, e.browser, e.os)::text";

export const TRAFFIC_KEY =
  `ROW(e.utm_source, e.utm_medium, e.utm_campaign, e.utm_term, e.utm_content, e.click_id_kind, ${REFERRER_HOST}, e.host)::text`;

/** With the host: whether a referrer is of the event's own host is told once. */
export const REFERRER_KEY =
  "CASE WHEN e.referrer IS NOT NULL THEN ROW(e.referrer, e.host)::text END";

/** The columns that hold the numbers of the dictionaries. */
const NUMBERS = {
  terms: "term_id",
  referrers: "referrer_id",
  contexts: "context_id",
  traffic: "traffic_id",
} as const;

// Looked up key by key, as the events are that keys were seen with: of a fresh project the planner
// knows nothing, and joins went through one side for each row of the other.
const known = (dictionary: keyof typeof NUMBERS): string =>
  `(SELECT d.${NUMBERS[dictionary]} FROM ${dictionary} d
    WHERE d.project_id = $1::int AND d.digest = k.digest)`;
const SAMPLE = `CROSS JOIN LATERAL (
  SELECT * FROM events WHERE project_id = $1::int AND event_id = k.sample OFFSET 0) e`;

// Each distinct text once, with one event that has it.
const GATHER_KEYS = `
INSERT INTO fold_keys (kind, key, digest, sample)
SELECT kind::"char", key, ${digestOf("key")}, sample
FROM (
  SELECT 't' AS kind, name AS key, NULL::uuid AS sample FROM fold_fresh GROUP BY name
  UNION
  SELECT 't', path, NULL FROM fold_fresh WHERE path IS NOT NULL GROUP BY path
  UNION
  SELECT 't', title, NULL FROM fold_fresh WHERE title IS NOT NULL GROUP BY title
  UNION ALL
  SELECT 'f', referrer_key, (array_agg(event_id))[1] FROM fold_fresh
  WHERE referrer_key IS NOT NULL GROUP BY referrer_key
  UNION ALL
  SELECT 'c', context_key, (array_agg(event_id))[1] FROM fold_fresh GROUP BY context_key
  UNION ALL
  SELECT 'r', traffic_key, (array_agg(event_id))[1] FROM fold_fresh
  WHERE traffic_key IS NOT NULL GROUP BY traffic_key
) AS keys`;

// The three names that queries and indexes know by number.
const RESERVE_TERMS = `
INSERT INTO terms (project_id, term_id, digest, term)
SELECT $1::int, id, ${digestOf("term")}, term
FROM (VALUES (1, 'page_view'), (2, 'click'), (3, 'scroll')) AS reserved (id, term)
ON CONFLICT DO NOTHING`;

const ADD_TERMS = `
INSERT INTO terms (project_id, term_id, digest, term)
SELECT $1::int, last.id + row_number() OVER (ORDER BY k.digest), k.digest, k.key
FROM fold_keys k, (SELECT coalesce(max(term_id), 0) AS id FROM terms WHERE project_id = $1::int) last
WHERE k.kind = 't'
  AND ${known("terms")} IS NULL`;

/** What becomes a row of `referrers`, from rows `e` with an event's referrer and host. */
const REFERRER_COLUMNS = `e.referrer, ${foreignHost("e.referrer", "e.host")}`;
const LAST_REFERRER = `(SELECT coalesce(max(referrer_id), 0) AS id
   FROM referrers WHERE project_id = $1::int) last`;

const ADD_REFERRERS = `
INSERT INTO referrers (project_id, referrer_id, digest, address, host)
SELECT $1::int, last.id + row_number() OVER (ORDER BY k.digest), k.digest, ${REFERRER_COLUMNS}
FROM fold_keys k ${SAMPLE},
  ${LAST_REFERRER}
WHERE k.kind = 'f'
  AND ${known("referrers")} IS NULL`;

const ADD_STORED_TITLES = `
INSERT INTO terms (project_id, term_id, digest, term)
SELECT $1::int, last.id + row_number() OVER (ORDER BY k.digest), k.digest, k.title
FROM (
  SELECT title, ${digestOf("title")} AS digest
  FROM events WHERE project_id = $1::int AND title IS NOT NULL GROUP BY title
) k, (SELECT coalesce(max(term_id), 0) AS id FROM terms WHERE project_id = $1::int) last
WHERE NOT EXISTS (SELECT FROM terms t WHERE t.project_id = $1::int AND t.digest = k.digest)`;

const ADD_STORED_REFERRERS = `
INSERT INTO referrers (project_id, referrer_id, digest, address, host)
SELECT $1::int, last.id + row_number() OVER (ORDER BY e.digest), e.digest, ${REFERRER_COLUMNS}
FROM (
  SELECT referrer, host, ${digestOf(REFERRER_KEY)} AS digest
  FROM (
    SELECT referrer, host FROM events
    WHERE project_id = $1::int AND referrer IS NOT NULL GROUP BY referrer, host) e
) e, ${LAST_REFERRER}
WHERE NOT EXISTS (SELECT FROM referrers r WHERE r.project_id = $1::int AND r.digest = e.digest)`;

const ADD_CONTEXTS = `
INSERT INTO contexts (project_id, context_id, digest, device, host, country, region, city, browser, os)
SELECT $1::int,
  (last.id + row_number() OVER (ORDER BY k.digest)) * CASE WHEN e.bot THEN -1 ELSE 1 END,
  k.digest, e.device, e.host, e.country, e.region, e.city, e.browser, e.os
FROM fold_keys k ${SAMPLE},
  (SELECT coalesce(greatest(max(context_id), -min(context_id)), 0) AS id
   FROM contexts WHERE project_id = $1::int) last
WHERE k.kind = 'c'
  AND ${known("contexts")} IS NULL`;

const UNKNOWN_TRAFFIC = `
SELECT k.digest, e.utm_source, e.utm_medium, e.utm_campaign, e.utm_term, e.utm_content,
  e.click_id_kind, ${REFERRER_HOST} AS referrer_host, e.host
FROM fold_keys k ${SAMPLE}
WHERE k.kind = 'r'
  AND ${known("traffic")} IS NULL
ORDER BY k.digest`;

const TRAFFIC_COLUMNS = [
  "digest",
  "utm_source",
  "utm_medium",
  "utm_campaign",
  "utm_term",
  "utm_content",
  "click_id_kind",
  "referrer_host",
  "host",
  "source",
  "medium",
  "campaign",
  "term",
  "content",
  "referrer",
  "channel",
  "rule",
] as const;
type TrafficRow = Record<(typeof TRAFFIC_COLUMNS)[number], string | null>;

const TRAFFIC_ARRAYS = TRAFFIC_COLUMNS
  .map((name, i) => `$${i + 2}::text::${name === "digest" ? "uuid" : "text"}[]`).join(", ");

const ADD_TRAFFIC = `
INSERT INTO traffic (project_id, traffic_id, ${TRAFFIC_COLUMNS.join(", ")})
SELECT $1::int, last.id + row_number() OVER (ORDER BY a.digest), a.*
FROM unnest(${TRAFFIC_ARRAYS}) AS a (${TRAFFIC_COLUMNS.join(", ")}),
  (SELECT coalesce(max(traffic_id), 0) AS id FROM traffic WHERE project_id = $1::int) last`;

const RECLASSIFY_TRAFFIC = `
UPDATE traffic t
SET source = a.source, medium = a.medium, campaign = a.campaign, term = a.term,
  content = a.content, referrer = a.referrer, channel = a.channel, rule = a.rule
FROM unnest(${TRAFFIC_ARRAYS}) AS a (${TRAFFIC_COLUMNS.join(", ")})
WHERE t.project_id = $1::int AND t.digest = a.digest`;

const RESOLVE_KEYS = `
UPDATE fold_keys k SET id = CASE k.kind
  WHEN 't' THEN ${known("terms")} WHEN 'f' THEN ${known("referrers")}
  WHEN 'c' THEN ${known("contexts")} WHEN 'r' THEN ${known("traffic")} END`;

const ADD_TECHNICAL_NAMES = `
INSERT INTO technical_names (project_id, term_id, name)
SELECT DISTINCT $1::int, k.id, k.key
FROM fold_keys k JOIN fold_fresh f ON f.name = k.key
WHERE k.kind = 't' AND k.key LIKE '$%'
ON CONFLICT DO NOTHING`;

/** The rows with what the channel rules make of them. */
function classified(rows: readonly TrafficRow[], siteHost: string | null): TrafficRow[] {
  return rows.map((row) => {
    const facts: TrafficFacts = {
      utmSource: row.utm_source,
      utmMedium: row.utm_medium,
      utmCampaign: row.utm_campaign,
      utmTerm: row.utm_term,
      utmContent: row.utm_content,
      clickIdKind: row.click_id_kind,
      referrerHost: row.referrer_host,
      host: row.host,
    };
    return { ...row, ...classifyTraffic(facts, siteHost) };
  });
}

const arraysOf = (rows: readonly TrafficRow[]): string[] =>
  TRAFFIC_COLUMNS.map((name) => arrayLiteral(rows.map((row) => row[name])));

/**
 * Gives every name, path, title, referrer, context and traffic of the fresh events its number: adds what is new to
 * the project's dictionaries and leaves the numbers in `fold_keys`.
 */
export async function resolveDictionaries(
  tx: Sql,
  projectId: number,
  siteHost: string | null,
): Promise<void> {
  await tx.query(GATHER_KEYS);
  await tx.query(RESERVE_TERMS, [projectId]);
  await tx.query(ADD_TERMS, [projectId]);
  await tx.query(ADD_REFERRERS, [projectId]);
  await tx.query(ADD_CONTEXTS, [projectId]);
  const unknown = await tx.query<TrafficRow>(UNKNOWN_TRAFFIC, [projectId]);
  if (unknown.length > 0) {
    await tx.query(ADD_TRAFFIC, [projectId, ...arraysOf(classified(unknown, siteHost))]);
  }
  await tx.query(RESOLVE_KEYS, [projectId]);
  await hashed(tx, ADD_TECHNICAL_NAMES, [projectId]);
}

/** Gives the titles and referrers of all stored events their numbers, where they have none. */
export async function resolveStoredTitles(tx: Sql, projectId: number): Promise<void> {
  await tx.query(RESERVE_TERMS, [projectId]);
  await tx.query(ADD_STORED_TITLES, [projectId]);
  await tx.query(ADD_STORED_REFERRERS, [projectId]);
}

/** Classifies all traffic of a project again, after its site or the rules have changed. */
export async function reclassifyTraffic(
  tx: Sql,
  projectId: number,
  siteHost: string | null,
): Promise<void> {
  const rows = await tx.query<TrafficRow>(
    `SELECT ${TRAFFIC_COLUMNS.join(", ")} FROM traffic WHERE project_id = $1::int`,
    [projectId],
  );
  if (rows.length === 0) return;
  await tx.query(RECLASSIFY_TRAFFIC, [projectId, ...arraysOf(classified(rows, siteHost))]);
}
