import type { Histories, HistoryPart } from "./histories.ts";
import { nameBit } from "./loaded_segment.ts";
import { Pace } from "./pace.ts";
import type { VisitRun } from "./run_walk.ts";

/** Of what share of all events following just those of some names is quicker than following everybody. */
const NAMED_SHARE_MAX = 1 / 4;
/** Events between two looks at the clock. */
const EVENTS_UNTIMED = 20_000;

/** Events of some names, each by its segment's number, its place there, and who did it. */
interface NamedEvents {
  readonly count: number;
  readonly segments: Uint16Array;
  readonly places: Int32Array;
  readonly actors: Int32Array;
}

/** What is looked for: 1 at the id of each name, the bits of all, and 1 at the id of each path; null: all paths. */
interface WantedNames {
  readonly isWanted: Uint8Array;
  readonly bits: number;
  readonly onPath: Uint8Array | null;
}

function wantedNames(isWanted: Uint8Array, onPath: Uint8Array | null): WantedNames {
  let bits = 0;
  for (let name = 0; name < isWanted.length; name++) {
    if (isWanted[name] === 1) bits |= nameBit(name);
  }
  return { isWanted, bits, onPath };
}

/** How many events have one of these names. */
async function countNamed(
  { segments }: HistoryPart,
  { isWanted, bits, onPath }: WantedNames,
): Promise<number> {
  const pace = new Pace();
  let count = 0;
  for (const { names, paths, starts, nameBits } of segments) {
    for (let run = 0; run < nameBits.length; run++) {
      if ((nameBits[run]! & bits) === 0) continue;
      const end = starts[run + 1]!;
      for (let at = starts[run]!; at < end; at++) {
        if (onPath === null) count += isWanted[names[at]!]!;
        else count += isWanted[names[at]!]! & onPath[paths[at]!]!;
      }
    }
    if (pace.isOver()) await pace.pause();
  }
  return count;
}

async function findNamed(
  { segments }: HistoryPart,
  actorOf: Int32Array,
  { isWanted, bits, onPath }: WantedNames,
  count: number,
): Promise<NamedEvents> {
  const found = {
    count,
    segments: new Uint16Array(count),
    places: new Int32Array(count),
    actors: new Int32Array(count),
  };
  const pace = new Pace();
  let length = 0;
  for (const [number, { names, paths, identities, starts, nameBits }] of segments.entries()) {
    for (let run = 0; run < nameBits.length; run++) {
      if ((nameBits[run]! & bits) === 0) continue;
      const actor = actorOf[identities[run]!]!;
      const end = starts[run + 1]!;
      for (let at = starts[run]!; at < end; at++) {
        if (isWanted[names[at]!] === 0 || onPath !== null && onPath[paths[at]!] === 0) continue;
        found.segments[length] = number;
        found.places[length] = at;
        found.actors[length++] = actor;
      }
    }
    if (pace.isOver()) await pace.pause();
  }
  return found;
}

/** The events' numbers by actor: those of one lie side by side, in the order of their segments. */
function byActor({ count, actors }: NamedEvents, actorMax: number): Int32Array {
  const ends = new Int32Array(actorMax + 2);
  for (let i = 0; i < count; i++) ends[actors[i]! + 1]!++;
  for (let actor = 0; actor <= actorMax; actor++) ends[actor + 1]! += ends[actor]!;
  const order = new Int32Array(count);
  for (let i = 0; i < count; i++) order[ends[actors[i]!]!++] = i;
  return order;
}

/**
 * Visits every event of some names, on some paths, in a part, as a stretch of one: all that an actor
 * did before what another did, but not in the order of time. Others have their turn about every 10 ms.
 * Throws what `visit` throws.
 * @param isWanted 1 at the id of each name
 * @param onPath 1 at the id of each path; null: whatever the path
 * @returns false where they are so many that it is quicker to follow everybody: then none was visited
 */
export async function walkPartNamed(
  { actorOf }: Pick<Histories, "actorOf">,
  part: HistoryPart,
  isWanted: Uint8Array,
  visit: VisitRun,
  onPath: Uint8Array | null = null,
): Promise<boolean> {
  const { segments } = part;
  const all = segments.reduce((sum, { times }) => sum + times.length, 0);
  const wanted = wantedNames(isWanted, onPath);
  const count = await countNamed(part, wanted);
  if (count > all * NAMED_SHARE_MAX || segments.length > 0xffff) return false;
  const found = await findNamed(part, actorOf, wanted, count);
  const order = byActor(found, actorOf.length - 1);
  const pace = new Pace();
  for (let i = 0; i < count; i++) {
    const number = order[i]!;
    const place = found.places[number]!;
    visit(found.actors[number]!, segments[found.segments[number]!]!, place, place + 1);
    if (i % EVENTS_UNTIMED === 0 && pace.isOver()) await pace.pause();
  }
  return true;
}
