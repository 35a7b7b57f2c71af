import type { Sql } from "../db/sql.ts";
import { FUNNEL_PACKS_FETCHED } from "../limits.ts";
import { SqlParams } from "../selection/sql_params.ts";
import { CLICK, SCROLL } from "../selection/terms.ts";
import {
  type ActorEvents,
  type Attempt,
  type AttemptRules,
  bestAttempt,
  BETWEEN,
  EXCLUDED,
} from "./funnel_attempts.ts";
import { type FunnelDefinition, windowMsOf } from "./funnel_definition.ts";
import { type FunnelQuestion, FunnelScans } from "./funnel_scans.ts";
import type { FunnelTables } from "./funnel_sql.ts";

/** Actor (4 bytes), tick (8), mask (2), each with its most significant byte first. */
const EVENT_BYTES = 14;
const RANK_SPAN = 65_536;
/** Events of as many actors travel as one row: a row costs far more than the bytes in it. */
const ACTOR_BITS = 6;

/** Ids of names whose events do not come between two steps: those of a page's own doing that no step names. */
export function passedOver({ steps }: FunnelDefinition): number[] {
  const named = steps.map(({ name }) => name);
  return [...named.includes("click") ? [] : [CLICK], ...named.includes("scroll") ? [] : [SCROLL]];
}

function scan(where: string, mask: number): string {
  return `SELECT f.actor_id, f.tick, ${mask} AS mask FROM facts f WHERE ${where}`;
}

/** Everything that may matter to an attempt, once for each thing that it is. */
function parts(definition: FunnelDefinition, scans: FunnelScans): string[] {
  const { steps, order } = definition;
  if (order === "unordered") {
    return [
      ...steps.map((_, i) => scan(scans.step(i + 1), 1 << i)),
      ...scans.excluded.map((where) => scan(where, EXCLUDED)),
    ];
  }
  const known = " AND f.actor_id IN (SELECT actor_id FROM followed)";
  const others = passedOver(definition).map((name) => ` AND f.name_id <> ${name}`).join("");
  return [
    scan(scans.entry, 1),
    ...steps.slice(1).map((_, i) => scan(scans.step(i + 2) + known, 2 << i)),
    ...scans.excluded.map((where) => scan(where + known, EXCLUDED)),
    scan(scans.any + others + known, BETWEEN),
  ];
}

/**
 * Actors of whom every event may matter in strict order: those who enter and, unless another event
 * may end their attempt, did the second step at all.
 */
function followed({ steps, exclude }: FunnelDefinition, scans: FunnelScans): string {
  const actors = (where: string) => `SELECT f.actor_id FROM facts f WHERE ${where}`;
  const second = steps.length === 1 || exclude.length > 0
    ? ""
    : `INTERSECT ${actors(scans.step(2))}`;
  // Distinct, so that no event of an actor is paired with another.
  return `WITH followed AS (
    SELECT DISTINCT actor_id FROM (${actors(scans.entry)} ${second}) AS e)`;
}

function statement(definition: FunnelDefinition, scans: FunnelScans): string {
  // Packs are grouped in the order of their sorted input; what reads them checks it.
  return `${definition.order === "strict" ? followed(definition, scans) : ""}
    SELECT encode(string_agg(int4send(actor_id) || int8send(tick) || int2send(mask::int2), ''::bytea), 'base64') AS pack
    FROM (
      SELECT actor_id >> ${ACTOR_BITS} AS actors, actor_id, tick, mask
      FROM (${parts(definition, scans).join(" UNION ALL ")}) AS part
      ORDER BY 1, actor_id, tick) AS sorted
    GROUP BY actors`;
}

/** The attempts that count, one array a column: millions of objects would weigh ten times as much. */
class Attempts {
  readonly actors: number[] = [];
  readonly entriesMs: number[] = [];
  readonly ranks: number[] = [];
  readonly died: number[] = [];
  readonly late: number[] = [];
  /** For each step from the second: how long after the step before; -1: not reached. */
  readonly stepsMs: number[][];

  constructor(stepCount: number, readonly lateFromMs: number) {
    this.stepsMs = Array.from({ length: stepCount - 1 }, () => []);
  }

  add(actor: number, { ms }: ActorEvents, ranks: Uint16Array, attempt: Attempt): void {
    const { entry, events, died, lastEntry } = attempt;
    this.actors.push(actor);
    this.entriesMs.push(ms[entry]!);
    this.ranks.push(ranks[entry]!);
    this.died.push(Number(died));
    this.late.push(Number(ms[lastEntry]! > this.lateFromMs));
    for (const [i, column] of this.stepsMs.entries()) {
      column.push(i + 1 < events.length ? ms[events[i + 1]!]! - ms[events[i]!]! : -1);
    }
  }

  tables(params: SqlParams): FunnelTables {
    const columns = [
      `${params.ints(this.actors)}, ${params.bigints(this.entriesMs)}, ${params.ints(this.ranks)}`,
      `${params.ints(this.died)}, ${params.ints(this.late)}`,
      ...this.stepsMs.map((column) => params.bigints(column)),
    ];
    const steps = this.stepsMs.map((_, i) => `ms_${i + 2}`);
    const names = ["actor_id", "ms", "rank", "died", "late", ...steps];
    return [
      `attempts AS (SELECT * FROM unnest(${columns.join(", ")}) AS a (${names.join(", ")}))`,
      `entered AS (
        SELECT actor_id, (ms << 16) | rank AS tick, died = 1 AS doomed, late = 1 AS late FROM attempts)`,
      ...steps.map((name, i) =>
        `reached_${i + 2} AS (SELECT actor_id, ${name} AS ms FROM attempts WHERE ${name} >= 0)`
      ),
    ];
  }
}

/** Reads packs: follows each actor's events, and keeps the attempt that counts. */
class PackReader {
  #ms = new Float64Array(1024);
  #ranks = new Uint16Array(1024);
  #masks = new Uint16Array(1024);
  #length = 0;

  constructor(readonly rules: AttemptRules, readonly attempts: Attempts) {}

  read(pack: string): void {
    const bytes = Uint8Array.fromBase64(pack);
    const view = new DataView(bytes.buffer);
    let actor = NaN;
    for (let at = 0; at < bytes.length; at += EVENT_BYTES) {
      const next = view.getInt32(at);
      if (next !== actor) {
        this.#finish(actor);
        actor = next;
      }
      // A tick needs more digits than a number has: its milliseconds and its rank do not.
      const low = view.getUint32(at + 8);
      const ms = view.getInt32(at + 4) * RANK_SPAN + (low >>> 16);
      this.#take(ms, low & RANK_SPAN - 1, view.getUint16(at + 12));
    }
    this.#finish(actor);
  }

  #take(ms: number, rank: number, mask: number): void {
    const last = this.#length - 1;
    if (last >= 0) {
      const later = ms - this.#ms[last]! || rank - this.#ranks[last]!;
      if (later < 0) throw new Error("Events of an actor came out of order");
      if (later === 0) {
        this.#masks[last]! |= mask;
        return;
      }
    }
    if (this.#length === this.#ms.length) this.#grow();
    this.#ms[this.#length] = ms;
    this.#ranks[this.#length] = rank;
    this.#masks[this.#length++] = mask;
  }

  #finish(actor: number): void {
    if (this.#length === 0) return;
    const events = { length: this.#length, ms: this.#ms, masks: this.#masks };
    const attempt = bestAttempt(events, this.rules);
    if (attempt !== null) this.attempts.add(actor, events, this.#ranks, attempt);
    this.#length = 0;
  }

  #grow(): void {
    const length = 2 * this.#length;
    const [ms, ranks, masks] = [this.#ms, this.#ranks, this.#masks];
    (this.#ms = new Float64Array(length)).set(ms);
    (this.#ranks = new Uint16Array(length)).set(ranks);
    (this.#masks = new Uint16Array(length)).set(masks);
  }
}

/**
 * A funnel of any order: the events that matter are fetched actor by actor, in packs, and followed
 * here. At most some packs are held at once, and beside them one attempt for each actor who enters.
 */
export async function followedTables(
  sql: Sql,
  params: SqlParams,
  question: FunnelQuestion,
): Promise<FunnelTables> {
  const { definition, span, asOfMs } = question;
  const { order, entry, steps } = definition;
  const windowMs = windowMsOf(definition);
  const stepCount = steps.length;
  const attempts = new Attempts(stepCount, asOfMs - windowMs);
  const reader = new PackReader({ order, entry, stepCount, windowMs, ...span }, attempts);
  const scanned = new SqlParams();
  const select = statement(definition, new FunnelScans(scanned, question));
  await sql.query("SELECT set_config('cursor_tuple_fraction', '1', true)");
  await sql.query(`DECLARE funnel_packs NO SCROLL CURSOR FOR ${select}`, scanned.values);
  for (;;) {
    const rows = await sql.query<{ pack: string }>(
      `FETCH ${FUNNEL_PACKS_FETCHED} FROM funnel_packs`,
    );
    for (const { pack } of rows) reader.read(pack);
    if (rows.length < FUNNEL_PACKS_FETCHED) break;
  }
  await sql.query("CLOSE funnel_packs");
  return attempts.tables(params);
}
