import { packInts, unpackInts } from "../db/packed_ints.ts";
import type { Row, Sql } from "../db/sql.ts";
import { walkActors } from "../timelines/actor_walk.ts";
import { type ActorWay, lengthened } from "../timelines/actor_way.ts";
import type { Histories } from "../timelines/histories.ts";
import type { Span } from "../query/selection.ts";
import { firstCountedMs, type TechnicalNames } from "../scans/technical_names.ts";

/** Two numbers a row, in as many rows as there are. */
class Pairs {
  first = new Int32Array(1_024);
  second = new Int32Array(1_024);
  length = 0;

  add(first: number, second: number): void {
    if (this.length === this.first.length) {
      this.first = lengthened(this.first);
      this.second = lengthened(this.second);
    }
    this.first[this.length] = first;
    this.second[this.length++] = second;
  }
}

/**
 * Who is new in a span: actors whose first event ever lies in it, of any name that is counted. A walk
 * gathers who may be, by what it looks at; the database tells meanwhile who is.
 */
export class Newcomers {
  readonly #places = new Pairs();

  constructor(readonly span: Span, readonly technical: TechnicalNames) {}

  /** When the first event on the way was, if it lies in the span; else the actor is not new: null. */
  firstMs(way: ActorWay): number | null {
    const firstMs = firstCountedMs(way, this.technical);
    return firstMs >= this.span.fromMs && firstMs < this.span.toMs ? firstMs : null;
  }

  /** Notes that an actor, if new, counts at a place. */
  add(actor: number, place: number): void {
    this.#places.add(actor, place);
  }

  /** Follows every actor; then counts, by place, those noted that are new. `reach`: what was loaded. */
  async follow(
    sql: Sql,
    histories: Histories,
    reach: Span,
    visit: (actor: number, way: ActorWay) => void,
    counts: Int32Array,
  ): Promise<void> {
    const news = readNewActors(sql, histories, this.span, reach);
    // Whoever waits for it is told; until then nobody is.
    news.catch(() => {});
    await walkActors(sql, histories, visit);
    const isNew = await news;
    const { first: actors, second: places, length } = this.#places;
    for (let i = 0; i < length; i++) {
      if (isNew === null || isNew[actors[i]!] === 1) counts[places[i]!]!++;
    }
  }
}

// One statement, so that the database works on it while actors are followed.
const NEWS = `
SELECT p.is_preceded, CASE WHEN p.is_preceded THEN (
    SELECT ${packInts(["actor_id"])} FROM actors
    WHERE project_id = $1::int AND first_ms >= $2::int8 AND first_ms < $3::int8
  ) END AS actors
FROM (
  SELECT EXISTS (
    SELECT FROM actors WHERE project_id = $1::int AND first_ms < $4::int8
  ) AS is_preceded
) AS p`;

interface News extends Row {
  readonly is_preceded: boolean;
  readonly actors: string | null;
}

/**
 * Whose first event ever lies in a span: 1 at the place of each. Null where no event precedes what was
 * loaded for `reach`, which must begin no later than the span: then that tells it.
 */
async function readNewActors(
  sql: Sql,
  { projectId, actorOf }: Histories,
  span: Span,
  reach: Span,
): Promise<Uint8Array | null> {
  const [row] = await sql.query<News>(NEWS, [projectId, span.fromMs, span.toMs, reach.fromMs]);
  const { is_preceded, actors } = row!;
  if (!is_preceded) return null;
  const news = new Uint8Array(actorOf.length);
  for (const actor of unpackInts(actors)) news[actor] = 1;
  return news;
}
