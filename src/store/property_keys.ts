import type { MemberScanner } from "./json_members.ts";
import { SLOTS } from "./segment_columns.ts";
import {
  PROPERTY_KEYS_COUNTED_MAX,
  PROPERTY_SLOT_EVENTS_MIN,
  PROPERTY_SLOT_KEY_BYTES_MAX,
  PROPERTY_SLOTS_MAX,
  SLOTTED_EVENTS_MIN,
} from "./store_limits.ts";

const LATIN1 = new TextDecoder("latin1");
const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });
const TO_UTF8 = new TextEncoder();

/** Stands for the number of a key that has none. */
export const NO_KEY = -1;

/** Which properties get slots. */
export interface SlotRules {
  /** The keys, as JSON, that have slots in segments of the project. */
  readonly known: ReadonlySet<string>;
  /** How many events a segment must have, and how many of them a property must be on. */
  readonly segmentEventsMin: number;
  readonly slotEventsMin: number;
}

/** Returns the rules for a project whose segments have slots for these keys. */
export function slotRules(known: Iterable<string> = []): SlotRules {
  return {
    known: new Set(known),
    segmentEventsMin: SLOTTED_EVENTS_MIN,
    slotEventsMin: PROPERTY_SLOT_EVENTS_MIN,
  };
}

/** Numbers keys by their JSON in LATIN1, and counts the events that have each. */
export class PropertyKeys {
  /** As JSON. */
  readonly names: string[] = [];
  readonly events: number[] = [];
  /** The keys that a source has a slot for. */
  readonly #slotted = new Set<number>();
  readonly #numbers = new Map<string, number>();

  /** Returns the number of a member's key; NO_KEY: it is too long, or there are too many keys already. */
  numberOf(text: string, bytes: Uint8Array, { keyFrom, keyTo }: MemberScanner): number {
    if (keyTo - keyFrom > PROPERTY_SLOT_KEY_BYTES_MAX) return NO_KEY;
    const latin1 = text.slice(keyFrom, keyTo);
    const known = this.#numbers.get(latin1);
    if (known !== undefined) return known;
    const isFull = this.names.length >= PROPERTY_KEYS_COUNTED_MAX;
    return isFull ? NO_KEY : this.#add(bytes.subarray(keyFrom, keyTo));
  }

  /** Returns the number of a key that a source has a slot for. */
  slotted(name: string): number {
    const bytes = TO_UTF8.encode(name);
    const number = this.#numbers.get(LATIN1.decode(bytes)) ?? this.#add(bytes);
    this.#slotted.add(number);
    return number;
  }

  /**
   * Returns the keys that get slots: all that have one; then, of those on enough events and most frequent
   * first, keys that have slots in the project, and new ones while the project has room.
   */
  chosen({ known, slotEventsMin }: SlotRules): number[] {
    const { names, events } = this;
    const chosen = [...this.#slotted];
    // Cannot happen: `replaceSegments` keeps a project's segments below that.
    if (chosen.length > SLOTS.length) throw new Error("The segments have too many slots in total");
    const slotKeys = new Set([...known, ...chosen.map((key) => names[key]!)]);
    const frequent = names.keys().filter((key) =>
      !this.#slotted.has(key) && events[key]! >= slotEventsMin
    ).toArray().sort((a, b) => events[b]! - events[a]! || (names[a]! < names[b]! ? -1 : 1));
    for (const key of frequent) {
      const isNew = !slotKeys.has(names[key]!);
      if (isNew && slotKeys.size >= PROPERTY_SLOTS_MAX || chosen.length === SLOTS.length) continue;
      slotKeys.add(names[key]!);
      chosen.push(key);
    }
    return chosen;
  }

  #add(name: Uint8Array): number {
    const number = this.names.push(UTF8.decode(name)) - 1;
    // Decoded separately, because a slice of the text would keep all of it in memory.
    this.#numbers.set(LATIN1.decode(name), number);
    this.events.push(0);
    return number;
  }
}
