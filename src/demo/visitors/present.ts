import { pickDevice } from "./devices.ts";
import { addressIn, PLACES } from "./places.ts";
import { Random } from "./random.ts";
import { SOURCES } from "./sources.ts";
import { type DemoEvent, visitEvents } from "./visit.ts";

/** A visit that is under way, with the events that its browser has to send, oldest first. */
export interface PresentVisit {
  readonly address: string;
  readonly userAgent: string;
  readonly anonymousId: string;
  readonly events: readonly DemoEvent[];
}

/** A user who is always in the shop after it is filled: the manual's example of a person. */
const REGULAR_USER_ID = "user-42";
/** People in the shop at once. */
const PRESENT_VISITORS = 6;
const STEP_MS = 2_000;

/** Makes a visit that begins at `startMs`; the same `name` makes the same person and visit. */
function presentVisit(
  name: string,
  { origin, startMs, userId }: {
    readonly origin: string;
    readonly startMs: number;
    readonly userId: string | null;
  },
): PresentVisit {
  const random = new Random(`present/${name}`);
  const place = random.weighted(PLACES);
  const device = pickDevice(random);
  const anonymousId = random.hex(32);
  const events = visitEvents({
    origin,
    startMs,
    source: random.weighted(SOURCES),
    device,
    anonymousId,
    userId,
    signsAs: null,
    locale: random.pick(place.locales),
    timezone: place.timezone,
    appetite: random.fraction(),
  }, random);
  return { address: addressIn(place, random), userAgent: device.userAgent, anonymousId, events };
}

/** Makes the visits of those who are in the shop at `nowMs`, and came within the four minutes before. */
export function presentVisits(origin: string, nowMs: number): PresentVisit[] {
  return Array.from({ length: PRESENT_VISITORS }, (_, i) =>
    presentVisit(`${nowMs}/${i}`, {
      origin,
      startMs: nowMs - 5_000 - i * 40_000,
      userId: i === PRESENT_VISITORS - 1 ? REGULAR_USER_ID : null,
    }));
}

/** Divides a visit's events into those before `nowMs`, and those still to come. */
export function partedAt(
  { events }: PresentVisit,
  nowMs: number,
): { readonly past: readonly DemoEvent[]; readonly coming: readonly DemoEvent[] } {
  const next = events.findIndex(({ timestamp }) => Date.parse(timestamp) >= nowMs);
  const at = next < 0 ? events.length : next;
  return { past: events.slice(0, at), coming: events.slice(at) };
}

interface VisitsOptions {
  readonly origin: string;
  readonly now: () => number;
  /** Resolves after this time, or as soon as `signal` aborts. */
  readonly pause: (ms: number) => Promise<void>;
  readonly signal: AbortSignal;
  /** Sends the events that a browser has to send now. */
  readonly send: (visit: PresentVisit) => Promise<void>;
}

/** Simulates people in the shop until `signal` aborts: someone new comes for each who leaves. */
export async function simulateVisits(
  { origin, now, pause, signal, send }: VisitsOptions,
): Promise<void> {
  let visits = presentVisits(origin, now());
  for (let newcomers = 0; !signal.aborted;) {
    const nowMs = now();
    const left: PresentVisit[] = [];
    for (const visit of visits) {
      const { past, coming } = partedAt(visit, nowMs);
      if (past.length > 0) await send({ ...visit, events: past });
      if (coming.length > 0) left.push({ ...visit, events: coming });
    }
    visits = left;
    if (visits.length < PRESENT_VISITORS) {
      const userId = newcomers++ % PRESENT_VISITORS === 0 ? REGULAR_USER_ID : null;
      visits.push(presentVisit(`${nowMs}/new`, { origin, startMs: nowMs, userId }));
    }
    await pause(STEP_MS);
  }
}
