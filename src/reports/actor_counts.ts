/** What was counted of a key. */
export interface ActorCount<Key> {
  readonly key: Key;
  readonly count: number;
  /** Distinct actors. */
  readonly visitors: number;
}

interface Counting<Key> extends ActorCount<Key> {
  count: number;
  visitors: number;
  lastActor: number;
}

/**
 * Counts events and their distinct actors by key. Actors are right where all that one did is added
 * before what another did.
 */
export class ActorCounts<Key> {
  readonly #counts = new Map<Key, Counting<Key>>();

  add(key: Key, actor: number): void {
    const known = this.#counts.get(key);
    if (known === undefined) {
      this.#counts.set(key, { key, count: 1, visitors: 1, lastActor: actor });
      return;
    }
    known.count++;
    if (known.lastActor === actor) return;
    known.lastActor = actor;
    known.visitors++;
  }

  /**
   * The first `rows` keys: most events first, then most actors, then as `compare` has them. Cut down
   * as they are gone through, so that of a million keys a thousand are sorted at a time. Those of fewer
   * than `visitorsMin` actors are left out.
   */
  first(
    rows: number,
    compare: (a: Key, b: Key) => number,
    visitorsMin: number,
  ): ActorCount<Key>[] {
    const inOrder = (a: ActorCount<Key>, b: ActorCount<Key>) =>
      b.count - a.count || b.visitors - a.visitors || compare(a.key, b.key);
    let found: ActorCount<Key>[] = [];
    for (const one of this.#counts.values()) {
      if (one.visitors < visitorsMin) continue;
      found.push(one);
      if (found.length > 2 * rows) found = found.sort(inOrder).slice(0, rows);
    }
    return found.sort(inOrder).slice(0, rows);
  }
}
