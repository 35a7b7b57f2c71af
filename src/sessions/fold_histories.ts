import type { Sql } from "../db/sql.ts";
import { addToHistories, clearHistories, packed, partOf } from "../histories/segment_writer.ts";
import { digestOf, REFERRER_KEY, resolveStoredTitles, TRAFFIC_KEY } from "./fold_dictionaries.ts";
import { DEPTH } from "./spot.ts";

const PACK_NEW = `
SELECT ${
  packed({
    identity: "identity_id",
    ms: "tick >> 16",
    eventId: "event_id",
    name: "name_id",
    path: "path_id",
    context: "context_id",
    traffic: "traffic_id",
    title: "title_id",
    referrer: "referrer_id",
    depth: "depth",
    properties: "properties",
  })
} AS pack
FROM fold_new GROUP BY ${partOf("tick >> 16")}`;

const PACK_STORED = `
SELECT ${
  packed({
    identity: "i.identity_id",
    ms: "f.tick >> 16",
    eventId: "f.event_id",
    name: "f.name_id",
    path: "f.path_id",
    context: "f.context_id",
    traffic: "t.traffic_id",
    title: "n.term_id",
    referrer: "o.referrer_id",
    depth: `(${DEPTH})`,
    properties: "f.properties",
  })
} AS pack
FROM facts f
JOIN events e ON e.project_id = f.project_id AND e.event_id = f.event_id
JOIN identities i ON i.project_id = f.project_id
  AND i.kind = CASE WHEN e.user_id IS NOT NULL THEN 'u' WHEN e.anonymous_id IS NOT NULL THEN 'a' ELSE 'h' END::"char"
  AND i.value = coalesce(e.user_id, e.anonymous_id,
    translate(encode(e.visitor_hash, 'base64'), '+/=', '-_'))
LEFT JOIN traffic t ON e.in_session AND t.project_id = f.project_id
  AND t.digest = ${digestOf(TRAFFIC_KEY)}
LEFT JOIN terms n ON n.project_id = f.project_id AND n.digest = ${digestOf("e.title")}
LEFT JOIN referrers o ON o.project_id = f.project_id AND o.digest = ${digestOf(REFERRER_KEY)}
WHERE f.project_id = $1::int AND f.actor_id >= $2::int AND f.actor_id < $3::int
GROUP BY ${partOf("f.tick >> 16")}`;

type Packs = readonly { readonly pack: string }[];
const textsOf = (packs: Packs): string[] => packs.map(({ pack }) => pack);

/** Adds the new facts (`fold_new`) to the histories. */
export async function writeHistories(tx: Sql, projectId: number): Promise<void> {
  await addToHistories(tx, projectId, textsOf(await tx.query<{ pack: string }>(PACK_NEW)));
}

/** Begins to make the histories of a project from its facts. */
export async function beginHistories(tx: Sql, projectId: number): Promise<void> {
  await clearHistories(tx, projectId);
  await resolveStoredTitles(tx, projectId);
}

/** Adds the facts of some actors to the histories. */
export async function addStoredHistories(
  tx: Sql,
  projectId: number,
  slice: readonly [from: number, to: number],
): Promise<void> {
  const packs = await tx.query<{ pack: string }>(PACK_STORED, [projectId, ...slice]);
  await addToHistories(tx, projectId, textsOf(packs));
}
