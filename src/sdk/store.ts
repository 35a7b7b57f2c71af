/// <reference lib="dom" />

/** The prefix of all names that the SDK uses in localStorage. */
const PREFIX = "footfall|";

/** Texts by name: in localStorage, or in memory where the browser refuses that or is full. */
export interface Store {
  /** Whether other pages of the origin, later ones too, see the same texts. */
  readonly shared: unknown;
  get(name: string): string | null;
  /** Other pages see this value, or none. @returns whether they see it */
  set(name: string, value: unknown): boolean | undefined;
  delete(name: string): void;
  /** The shared texts. */
  keys(): string[];
}

/** @param inPage falsy on a server: everything stays in memory */
export function openStore(inPage: unknown): Store {
  const memory = new Map<string, string>();
  /** Browsers refuse storage, or run out of it, also while a page is open; the page never sees that. */
  const attempt = <T>(work: (storage: Storage) => T): T | undefined => {
    try {
      return work(inPage ? localStorage : undefined!);
    } catch {
      // It stays in memory.
    }
  };
  return {
    shared: attempt((storage) => storage),
    get: (name) => memory.get(name) ?? attempt((storage) => storage[PREFIX + name]) ?? null,
    set(name, value) {
      memory.set(name, `${value}`);
      return attempt((storage) => {
        storage[PREFIX + name] = value;
        return memory.delete(name);
        // Else the previous value goes: the next page would take it for the latest.
      }) || attempt((storage) => void delete storage[PREFIX + name]);
    },
    delete(name) {
      memory.delete(name);
      attempt((storage) => delete storage[PREFIX + name]);
    },
    keys: () =>
      // Names of others become nonsense here, which matches nothing.
      (attempt(Object.keys) ?? []).map((name) => name.slice(PREFIX.length)),
  };
}
