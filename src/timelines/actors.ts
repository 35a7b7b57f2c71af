import type { Sql } from "../db/sql.ts";
import type { SegmentCache } from "./segment_cache.ts";
import { room } from "./shared_memory.ts";

/** Returns pairs of an identity and its actor, as big-endian numbers of 4 bytes each, in one value. */
const LINKS = `
SELECT coalesce(string_agg(int8send(identity_id::int8 << 32 | actor_id), ''::bytea), ''::bytea)
FROM identities WHERE project_id = $1::int AND actor_id <> identity_id`;
const LINK_BYTES = 8;
const IDENTITY_BYTES = 4;

async function fetchLinks(sql: Sql, projectId: number): Promise<DataView> {
  const [row] = await sql.binary(LINKS, [projectId]);
  const { buffer, byteOffset, byteLength } = row![0]!;
  return new DataView(buffer, byteOffset, byteLength);
}

/** The links that are being fetched, by snapshot and project. */
const underWay = new WeakMap<Sql, Map<number, Promise<DataView>>>();

/** Fetches the links, once for look-ups side by side in one snapshot. */
function linksOf(sql: Sql, projectId: number): Promise<DataView> {
  const ofSnapshot = underWay.getOrInsertComputed(sql, () => new Map());
  return ofSnapshot.getOrInsertComputed(projectId, () => {
    const fetching = fetchLinks(sql, projectId).finally(() => ofSnapshot.delete(projectId));
    // A failure is thrown when it is awaited.
    fetching.catch(() => {});
    return fetching;
  });
}

/** Returns the largest id in the links, of an identity or an actor; -1: there are no links. */
function lastIdIn(links: DataView): number {
  let last = -1;
  for (let at = 0; at < links.byteLength; at += IDENTITY_BYTES) {
    last = Math.max(last, links.getInt32(at));
  }
  return last;
}

/**
 * Looks up the actors of identities, in the snapshot that `sql` reads. Starts to fetch the links between
 * identities, unless the actors of this version are cached; other statements may be sent meanwhile.
 */
export function lookUpActors(sql: Sql, cache: SegmentCache, projectId: number, version: number) {
  const keptNow = (): Int32Array | null => {
    const known = cache.actorsOf(projectId);
    return known?.version === version ? known.actorOf : null;
  };
  let fetching: Promise<DataView> | null = null;
  const fetch = (): Promise<DataView> => fetching ??= linksOf(sql, projectId);
  if (keptNow() === null) fetch();
  /** Returns the actor of each identity up to the last: itself unless it is linked to another. */
  const upTo = async (lastIdentity: number): Promise<Int32Array> => {
    const links = keptNow() === null ? await fetch() : null;
    // Another look-up may have kept them meanwhile.
    const kept = keptNow();
    if (kept !== null && kept.length > lastIdentity) return kept;
    const last = links === null ? lastIdentity : Math.max(lastIdentity, lastIdIn(links));
    const { actorOf } = room((bytes) => cache.memory.take(bytes), {
      actorOf: [new Int32Array(0), last + 1],
    });
    if (kept !== null) actorOf.set(kept);
    // A loop: `from` with a callback takes 50 ms of a first read for 577,000 identities.
    for (let identity = kept?.length ?? 0; identity <= last; identity++) {
      actorOf[identity] = identity;
    }
    for (let at = 0; links !== null && at < links.byteLength; at += LINK_BYTES) {
      actorOf[links.getInt32(at)] = links.getInt32(at + IDENTITY_BYTES);
    }
    cache.keepActors(projectId, { version, actorOf });
    return actorOf;
  };
  /** Resolves once no statement of the look-up is under way. It never throws. */
  const ended = async () => {
    await fetching?.catch(() => {});
  };
  return { upTo, ended };
}

/** Returns the actor of each identity up to the last, in the snapshot that `sql` reads. */
export async function readActors(
  sql: Sql,
  cache: SegmentCache,
  projectId: number,
  lastIdentity: number,
): Promise<Int32Array> {
  const [row] = await sql.query<{ links_version: number }>(
    "SELECT links_version FROM projections WHERE project_id = $1::int",
    [projectId],
  );
  return await lookUpActors(sql, cache, projectId, row?.links_version ?? 0).upTo(lastIdentity);
}
