import { SESSION_GAP_MS } from "../limits.ts";
import { PAGE_VIEW, RESERVED_TERM_MAX } from "../reserved_terms.ts";
import type { TimedEvent } from "../store/timed_events.ts";
import { inSlices } from "./slices.ts";

/**
 * A session or a part of one: a stored session, or a single event. The sums, minima and maxima of a session
 * follow from its parts, so no event is read again, however long a session grows.
 */
export interface SessionPart {
  actor: number;
  firstMs: number;
  lastMs: number;
  /** The times of the first and last page view; null: none. */
  firstViewMs: number | null;
  lastViewMs: number | null;
  /** The event ids of the first and last page view; without page views, of the first and last event. */
  entryId: string;
  exitId: string;
  entryPath: number;
  exitPath: number;
  context: number;
  traffic: number;
  events: number;
  views: number;
  /** Events that are neither page view, click nor scroll. */
  customs: number;
  /** The views and customs that undo no bounce. */
  passiveViews: number;
  passiveCustoms: number;
  /** Events that are not a bot's. */
  humans: number;
}

function partOf(event: TimedEvent, actor: number): SessionPart {
  const { ms, name, path, context, traffic, eventId, isPassive } = event;
  const isView = name === PAGE_VIEW;
  const isCustom = name > RESERVED_TERM_MAX;
  const viewMs = isView ? ms : null;
  return {
    actor,
    firstMs: ms,
    lastMs: ms,
    firstViewMs: viewMs,
    lastViewMs: viewMs,
    entryId: eventId,
    exitId: eventId,
    entryPath: path,
    exitPath: path,
    context,
    traffic,
    events: 1,
    views: isView ? 1 : 0,
    customs: isCustom ? 1 : 0,
    passiveViews: isPassive && isView ? 1 : 0,
    passiveCustoms: isPassive && isCustom ? 1 : 0,
    humans: context > 0 ? 1 : 0,
  };
}

/** Whether `b` has an earlier entry than `a`: page views come before other events, ids break ties. */
function entersBefore(b: SessionPart, a: SessionPart): boolean {
  if ((a.views > 0) !== (b.views > 0)) return b.views > 0;
  const difference = (b.firstViewMs ?? b.firstMs) - (a.firstViewMs ?? a.firstMs);
  return difference < 0 || difference === 0 && b.entryId < a.entryId;
}

/** Whether `b` has a later exit than `a`, by the same rules. */
function exitsAfter(b: SessionPart, a: SessionPart): boolean {
  if ((a.views > 0) !== (b.views > 0)) return b.views > 0;
  const difference = (b.lastViewMs ?? b.lastMs) - (a.lastViewMs ?? a.lastMs);
  return difference > 0 || difference === 0 && b.exitId > a.exitId;
}

function join(session: SessionPart, part: SessionPart): void {
  if (entersBefore(part, session)) {
    session.entryId = part.entryId;
    session.entryPath = part.entryPath;
    session.context = part.context;
    session.traffic = part.traffic;
  }
  if (exitsAfter(part, session)) {
    session.exitId = part.exitId;
    session.exitPath = part.exitPath;
  }
  if (part.views > 0) {
    const isFirst = session.views === 0;
    session.firstViewMs = isFirst
      ? part.firstViewMs
      : Math.min(session.firstViewMs!, part.firstViewMs!);
    session.lastViewMs = isFirst
      ? part.lastViewMs
      : Math.max(session.lastViewMs!, part.lastViewMs!);
  }
  session.firstMs = Math.min(session.firstMs, part.firstMs);
  session.lastMs = Math.max(session.lastMs, part.lastMs);
  session.events += part.events;
  session.views += part.views;
  session.customs += part.customs;
  session.passiveViews += part.passiveViews;
  session.passiveCustoms += part.passiveCustoms;
  session.humans += part.humans;
}

/**
 * Joins one actor's parts into sessions, in order: parts with at most 30 minutes between them belong
 * together. `parts` is sorted in place.
 */
function sessionsOf(parts: SessionPart[]): SessionPart[] {
  parts.sort((a, b) => a.firstMs - b.firstMs);
  const sessions: SessionPart[] = [];
  let last: SessionPart | undefined;
  for (const part of parts) {
    if (last !== undefined && part.firstMs - last.lastMs <= SESSION_GAP_MS) join(last, part);
    else sessions.push(last = { ...part });
  }
  return sessions;
}

/** Adds one actor's sessions to those of others. */
function addSessions(parts: SessionPart[], sessions: SessionPart[]): void {
  if (parts.length === 1) sessions.push(parts[0]!);
  else for (const session of sessionsOf(parts)) sessions.push(session);
}

/** Collects parts by actor. */
export class PartsOfActors {
  readonly #parts = new Map<number, SessionPart[]>();
  /** By actor, the part that the last event went into; only such parts are changed in place. */
  readonly #open = new Map<number, SessionPart>();

  /** Adds an event: to the part of the actor's previous event if it belongs there, as most do. */
  addEvent(event: TimedEvent, actor: number): void {
    const part = partOf(event, actor);
    const open = this.#open.get(actor);
    if (
      open !== undefined && event.ms - open.lastMs <= SESSION_GAP_MS &&
      open.firstMs - event.ms <= SESSION_GAP_MS
    ) return join(open, part);
    this.#open.set(actor, part);
    this.add(part);
  }

  add(part: SessionPart): void {
    const parts = this.#parts.get(part.actor);
    if (parts === undefined) this.#parts.set(part.actor, [part]);
    else parts.push(part);
  }

  /** Returns the sessions of all actors, each actor's in order. */
  async sessions(): Promise<SessionPart[]> {
    const sessions: SessionPart[] = [];
    await inSlices(this.#parts.values(), addSessions, sessions);
    return sessions;
  }
}
