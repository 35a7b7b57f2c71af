/// <reference lib="dom" />

/** All that the SDK keeps in a browser stands below this prefix of localStorage. */
const PREFIX = "footfall|";

/** Texts by name: in localStorage, or in memory where the browser refuses that or is full. */
export interface Store {
  /** Whether other pages of the origin, later ones too, see the same texts. */
  readonly shared: boolean;
  get(name: string): string | null;
  /** @returns whether others see it */
  set(name: string, value: string): boolean;
  remove(name: string): void;
  /** The shared texts. */
  keys(): string[];
}

/** @param inPage servers have no visitor whose storage it could be */
export function openStore(inPage: boolean): Store {
  const memory = new Map<string, string>();
  let storage: Storage | undefined;
  try {
    if (inPage) {
      localStorage.setItem(PREFIX, "");
      localStorage.removeItem(PREFIX);
      storage = localStorage;
    }
  } catch {
    // Refused: memory it is.
  }
  return {
    shared: !!storage,
    get: (name) => memory.get(name) ?? storage?.getItem(PREFIX + name) ?? null,
    set(name, value) {
      memory.set(name, value);
      try {
        storage!.setItem(PREFIX + name, value);
        return memory.delete(name);
      } catch {
        return false;
      }
    },
    remove(name) {
      memory.delete(name);
      storage?.removeItem(PREFIX + name);
    },
    keys: () =>
      // Of other names this makes nonsense, which names nothing.
      Object.keys(storage ?? {}).map((name) => name.slice(PREFIX.length)),
  };
}
