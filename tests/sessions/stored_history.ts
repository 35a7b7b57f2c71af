import assert from "node:assert/strict";
import type { Row, Sql } from "../../src/db/sql.ts";
import { columnOf } from "../../src/histories/column.ts";
import { SEGMENT_COLUMNS, SELDOM_COLUMNS } from "../../src/histories/stored_segment.ts";
import { digestOf, TRAFFIC_KEY } from "../../src/sessions/fold_dictionaries.ts";
import { DEPTH } from "../../src/sessions/spot.ts";

/** What the facts say, as histories should hold it: one line an event. */
const FACTS = `
SELECT concat_ws(' ', f.event_id, f.tick >> 16, i.identity_id, f.name_id, coalesce(f.path_id, 0), f.context_id,
  coalesce(t.traffic_id, 0), coalesce((${DEPTH})::text, 'NaN'), coalesce(n.term_id, 0),
  coalesce(r.referrer_id, 0)) AS line
FROM facts f
JOIN events e ON e.project_id = f.project_id AND e.event_id = f.event_id
JOIN identities i ON i.project_id = f.project_id
  AND i.kind::text || i.value = coalesce('u' || e.user_id, 'a' || e.anonymous_id,
    'h' || translate(encode(e.visitor_hash, 'base64'), '+/=', '-_'))
LEFT JOIN traffic t ON e.in_session AND t.project_id = f.project_id
  AND t.digest = ${digestOf(TRAFFIC_KEY)}
LEFT JOIN terms n ON n.project_id = f.project_id AND n.term = e.title
LEFT JOIN contexts c ON c.project_id = f.project_id AND c.context_id = f.context_id
LEFT JOIN referrers r ON r.project_id = f.project_id AND r.address = e.referrer
  AND r.digest = ${digestOf("ROW(e.referrer, c.host)::text")}
WHERE f.project_id = $1::int
  AND (n.term_id IS NULL) = (e.title IS NULL) AND (r.referrer_id IS NULL) = (e.referrer IS NULL)
  AND f.actor_id = i.actor_id
  AND f.properties IS NOT DISTINCT FROM e.properties AND (f.session_id IS NOT NULL) = e.in_session`;

interface StoredSegment extends Row {
  readonly from_ms: number;
  readonly to_ms: number;
  readonly events: number;
}

function idAt(ids: string, at: number): string {
  const hex = ids.slice(32 * at, 32 * (at + 1));
  return [[0, 8], [8, 12], [12, 16], [16, 20], [20, 32]].map(([a, b]) => hex.slice(a, b)).join("-");
}

function linesOf(stored: StoredSegment): string[] {
  const column = (name: string) => stored[name] === null ? [] : columnOf(stored[name] as string);
  const [identities, starts, times, names, paths, contexts, traffics, depths] = SEGMENT_COLUMNS
    .map(column);
  const [titles, referrers] = SELDOM_COLUMNS.map(column);
  const lines: string[] = [];
  let scrolls = 0;
  for (let i = 0; i < identities!.length; i++) {
    let before = "";
    for (let at = starts![i]!; at < starts![i + 1]!; at++) {
      const id = idAt(stored.ids as string, at);
      const place = `${String(times![at]).padStart(12, "0")} ${id}`;
      assert.ok(before < place, "events of an identity lie in order");
      before = place;
      const depth = names![at] === 3 ? depths![scrolls++] : NaN;
      const what = [names![at], paths![at], contexts![at], traffics![at]];
      const ms = stored.from_ms + times![at]!;
      lines.push(
        [id, ms, identities![i], ...what, depth, titles![at], referrers![at]].join(" "),
      );
    }
  }
  assert.equal(lines.length, stored.events);
  assert.equal(Math.max(...times!) + stored.from_ms, stored.to_ms);
  return lines;
}

/** Fails unless the histories of a project hold each of its facts once, and nothing else. */
export async function assertHistories(sql: Sql, projectId: number): Promise<void> {
  const facts = await sql.query<{ line: string }>(FACTS, [projectId]);
  const [count] = await sql.query<{ facts: number }>(
    "SELECT count(*)::int AS facts FROM facts WHERE project_id = $1::int",
    [projectId],
  );
  assert.equal(facts.length, count!.facts);
  const segments = await sql.query<StoredSegment>(
    `SELECT from_ms, to_ms, events, encode(ids, 'hex') AS ids,
      ${
      [...SEGMENT_COLUMNS, ...SELDOM_COLUMNS].map((name) => `encode(${name}, 'base64') AS ${name}`)
        .join(", ")
    }
    FROM history_segments WHERE project_id = $1::int`,
    [projectId],
  );
  assert.deepEqual(
    segments.flatMap(linesOf).sort(),
    facts.map(({ line }) => line).sort(),
  );
}
