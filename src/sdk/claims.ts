/// <reference lib="dom" />
import type { Store } from "./store.ts";

/** Longer than the minute between two timers of a tab that the browser slows down. */
const LEASE_MS = 90_000;
const RENEWAL_MS = 10_000;

/** Which queues this page may send. Each queue has one holder, so that no event goes out twice. */
export interface Claims {
  /** Takes a queue that is new, or whose page is gone; falsy while another page holds it. */
  claim(queue: string): unknown;
  has(queue: string): unknown;
  /** Gives all of them back, as the page is left. */
  release(): void;
}

/** A page that dies loses its locks, so a lock says exactly whether a queue's page lives. */
function lockClaims(locks: LockManager): Claims {
  const releases = new Map<string, () => void>();
  return {
    claim: (queue) =>
      new Promise((resolve: (lock?: unknown) => void) =>
        locks.request(`footfall|${queue}`, { ifAvailable: true }, (lock) => {
          resolve(lock);
          return lock && new Promise<void>((release) => releases.set(queue, release));
        }).catch(() => resolve())
      ),
    has: (queue) => releases.has(queue),
    release() {
      releases.forEach((release) => release());
      releases.clear();
    },
  };
}

/**
 * Without Web Locks (pages served by plain HTTP): a renewed lease in storage says that a page lives.
 * Without shared storage there is no need to renew it.
 */
function leaseClaims(store: Store): Claims {
  const leases = new Map<string, number>();
  const nameOf = (queue: string) => `lease|${queue}`;
  // A page that slept past its own lease has lost it, whoever took it.
  const holds = (queue: string) => leases.get(queue)! > Date.now();
  // A lease far ahead was written before the clock was set back.
  const isFree = (name: string) =>
    !(Math.abs(+store.get(name)! - Date.now() - LEASE_MS) < LEASE_MS);

  function renew(queue: string) {
    leases.set(queue, Date.now() + LEASE_MS);
    store.set(nameOf(queue), leases.get(queue));
  }

  if (store.shared) {
    setInterval(() => {
      [...leases.keys()].filter(holds).forEach(renew);
      store.keys().filter((name) => /^lease/.test(name) && isFree(name)).forEach(store.delete);
    }, RENEWAL_MS);
  }

  return {
    claim(queue) {
      const wins = isFree(nameOf(queue));
      if (wins) renew(queue);
      return wins;
    },
    has: holds,
    release() {
      [...leases.keys()].filter(holds).map(nameOf).forEach(store.delete);
      leases.clear();
    },
  };
}

export function openClaims(store: Store): Claims {
  return store.shared && navigator.locks ? lockClaims(navigator.locks) : leaseClaims(store);
}
