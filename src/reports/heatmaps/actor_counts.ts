/** Keys with the number of their events and the number of distinct actors of these events. */
export interface CountRows {
  readonly keys: Int32Array;
  readonly counts: Int32Array;
  readonly visitors: Int32Array;
}

/** Counts events and their distinct actors by key. All events of an actor must be added before the next actor's. */
export class ActorCounts {
  readonly #counts = new Map<number, { count: number; visitors: number; lastActor: number }>();

  add(key: number, actor: number): void {
    const known = this.#counts.get(key);
    if (known === undefined) {
      this.#counts.set(key, { count: 1, visitors: 1, lastActor: actor });
      return;
    }
    known.count++;
    if (known.lastActor === actor) return;
    known.lastActor = actor;
    known.visitors++;
  }

  rows(): CountRows {
    const all = [...this.#counts.values()];
    return {
      keys: Int32Array.from(this.#counts.keys()),
      counts: Int32Array.from(all, ({ count }) => count),
      visitors: Int32Array.from(all, ({ visitors }) => visitors),
    };
  }
}

interface ActorCount {
  readonly key: number;
  readonly count: number;
  /** Distinct actors. */
  readonly visitors: number;
}

/**
 * Returns the first `rows` keys with at least `visitorsMin` actors: most events first, then most actors,
 * then by `compare`. The list is cut again and again meanwhile, so that never all of a million keys are
 * sorted.
 */
export function firstRows(
  { keys, counts, visitors }: CountRows,
  rows: number,
  compare: (a: number, b: number) => number,
  visitorsMin: number,
): ActorCount[] {
  const inOrder = (a: ActorCount, b: ActorCount) =>
    b.count - a.count || b.visitors - a.visitors || compare(a.key, b.key);
  let first: ActorCount[] = [];
  for (let i = 0; i < keys.length; i++) {
    if (visitors[i]! < visitorsMin) continue;
    first.push({ key: keys[i]!, count: counts[i]!, visitors: visitors[i]! });
    if (first.length > 2 * rows) first = first.sort(inOrder).slice(0, rows);
  }
  return first.sort(inOrder).slice(0, rows);
}
