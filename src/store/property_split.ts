import { ByteWriter } from "./byte_stream.ts";
import { encodedTexts, type EventSource } from "./event_source.ts";
import { MemberScanner } from "./json_members.ts";
import { SLOTS } from "./segment_columns.ts";
import { UNUSED_SLOT } from "./segment_head.ts";
import { PROPERTY_SLOTS_MAX } from "./store_limits.ts";
import { emptyTexts, type TextColumn } from "./text_codec.ts";
import { HOLE, wholeProperties } from "./whole_properties.ts";
import type { Yield } from "./yielding.ts";

/** One character per byte, so that places in the text are places in the bytes. */
const LATIN1 = new TextDecoder("latin1");
const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });
const TO_UTF8 = new TextEncoder();
const HOLE_BYTE = Uint8Array.of(HOLE.charCodeAt(0));

/** Texts between two looks at the clock. */
const TEXTS_UNTIMED = 1_000;

/**
 * The properties of a segment's events: values of frequent keys in slots, which are columns of their own, and
 * templates, which are the JSON texts with a hole where such a value was. A read of one property then decodes
 * one column: 1 s in place of 3 for ten million events. Where a key has a slot, all of its values are there.
 */
export interface SplitProperties {
  /** The key of each slot, as JSON. */
  readonly keys: readonly string[];
  /** By source. */
  readonly templates: readonly TextColumn[];
  /** Returns the values of a slot, by source. */
  readonly valuesOf: (slot: number) => TextColumn[];
}

/** Numbers keys by their JSON in LATIN1, and counts the events that have each. */
class Keys {
  /** As JSON. */
  readonly names: string[] = [];
  readonly events: number[] = [];
  /** Whether a source has a slot for it already. */
  readonly isSlotted: boolean[] = [];
  readonly #numbers = new Map<string, number>();

  numberOf(latin1: string): number | undefined {
    return this.#numbers.get(latin1);
  }

  add(latin1: string, name: Uint8Array): number {
    const number = this.names.push(UTF8.decode(name)) - 1;
    this.#numbers.set(latin1, number);
    this.events.push(0);
    this.isSlotted.push(false);
    return number;
  }

  /** Returns those that get slots: first those that have one, then the most frequent. */
  chosen(eventsMin: number): number[] {
    const { names, events, isSlotted } = this;
    return [...names.keys()]
      .filter((key) => isSlotted[key] || events[key]! >= eventsMin)
      .sort((a, b) =>
        Number(isSlotted[b]) - Number(isSlotted[a]) || events[b]! - events[a]! ||
        (names[a]! < names[b]! ? -1 : 1)
      )
      .slice(0, PROPERTY_SLOTS_MAX);
  }
}

/** The properties of one source, with the place of every member. */
class SourceProperties {
  readonly #source: EventSource;
  readonly #keys: Keys;
  readonly #slots = new Map<number, number>();
  #column: TextColumn;
  #text = "";
  /** By text, its first member; by member, its key and where its value lies. */
  #firsts: number[] = [];
  #members: number[] = [];
  #froms: number[] = [];
  #tos: number[] = [];
  /** Members grouped by their keys, and where each key's begin. */
  #byKey = new Uint32Array(0);
  #keyStarts = new Uint32Array(0);

  constructor(source: EventSource, keys: Keys) {
    this.#source = source;
    this.#keys = keys;
    this.#column = source.texts("properties");
    for (const [slot, name] of source.slotKeys.entries()) {
      if (name === UNUSED_SLOT) continue;
      const bytes = TO_UTF8.encode(name);
      const latin1 = LATIN1.decode(bytes);
      const key = keys.numberOf(latin1) ?? keys.add(latin1, bytes);
      this.#slots.set(key, slot);
      keys.isSlotted[key] = true;
      keys.events[key]! += source.events;
    }
  }

  /** Finds the members of all texts. */
  async scan(yieldIfDue: Yield): Promise<void> {
    const { codes, ends, bytes } = this.#column;
    this.#text = LATIN1.decode(bytes);
    const eventsOf = new Uint32Array(ends.length + 1);
    for (const code of codes) eventsOf[code]!++;
    const members = new MemberScanner(this.#text);
    const lastText: number[] = [];
    for (let text = 0, start = 0; text < ends.length; start = ends[text++]!) {
      if (text % TEXTS_UNTIMED === 0) await yieldIfDue();
      const first = this.#members.length;
      this.#firsts.push(first);
      let isObject = members.open(start, ends[text]!);
      while (isObject && members.next()) {
        const { keyFrom, keyTo } = members;
        const name = this.#text.slice(keyFrom, keyTo);
        const key = this.#keys.numberOf(name) ??
          this.#keys.add(name, bytes.subarray(keyFrom, keyTo));
        // A text that names a key twice could not be put together again.
        isObject = lastText[key] !== text;
        lastText[key] = text;
        this.#members.push(key);
        this.#froms.push(members.from);
        this.#tos.push(members.to);
      }
      if (!isObject || !members.isDone) this.#forget(first);
      for (let i = first; i < this.#members.length; i++) {
        const key = this.#members[i]!;
        if (!this.#slots.has(key)) this.#keys.events[key]! += eventsOf[text + 1]!;
      }
    }
    this.#firsts.push(this.#members.length);
  }

  /** Takes the values out of slots again where a key of theirs is not chosen. */
  async withSlotsOf(chosen: readonly number[], yieldIfDue: Yield): Promise<void> {
    const isChosen = new Set(chosen);
    if (this.#slots.keys().every((key) => isChosen.has(key))) return;
    const whole = wholeProperties(this.#source);
    const texts = Array.from({ length: this.#source.events }, (_, at) => whole(at));
    const values = texts.filter((text) => text !== null);
    let code = 0;
    const codes = Int32Array.from(texts, (text) => text === null ? 0 : ++code);
    this.#column = { codes, ...encodedTexts(values) };
    this.#slots.clear();
    this.#firsts = [];
    this.#forget(0);
    await this.scan(yieldIfDue);
  }

  /** Returns the texts with holes in place of the chosen keys' values. */
  async templates(isChosen: Uint8Array, yieldIfDue: Yield): Promise<TextColumn> {
    const { codes, ends, bytes } = this.#column;
    if (!this.#members.some((key) => isChosen[key] === 1 && !this.#slots.has(key))) {
      return this.#column;
    }
    const text = this.#text;
    const writer = new ByteWriter();
    const templateEnds: number[] = [];
    const known = new Map<string, number>();
    const templateOf = new Int32Array(ends.length + 1);
    let length = 0;
    for (let which = 0, start = 0; which < ends.length; start = ends[which++]!) {
      if (which % TEXTS_UNTIMED === 0) await yieldIfDue();
      const holes = this.#holesOf(which, isChosen);
      let template = "";
      let from = start;
      for (const member of holes) {
        template += text.slice(from, this.#froms[member]!) + HOLE;
        from = this.#tos[member]!;
      }
      template += text.slice(from, ends[which]!);
      let code = known.get(template);
      if (code === undefined) {
        known.set(template, code = known.size + 1);
        from = start;
        for (const member of holes) {
          writer.bytes(bytes.subarray(from, this.#froms[member]!));
          writer.bytes(HOLE_BYTE);
          from = this.#tos[member]!;
        }
        writer.bytes(bytes.subarray(from, ends[which]!));
        templateEnds.push(length += template.length);
      }
      templateOf[which + 1] = code;
    }
    return {
      codes: codes.map((code) => templateOf[code]!),
      ends: Uint32Array.from(templateEnds),
      bytes: writer.end(),
    };
  }

  /** Returns the values of a key. */
  valuesOf(key: number): TextColumn {
    const slot = this.#slots.get(key);
    if (slot !== undefined) return this.#source.texts(SLOTS[slot]!);
    this.#group();
    const { codes, ends, bytes } = this.#column;
    const [first, end] = [this.#keyStarts[key]!, this.#keyStarts[key + 1]!];
    if (first === end) return emptyTexts(codes.length);
    const writer = new ByteWriter();
    const valueEnds: number[] = [];
    const known = new Map<string, number>();
    const valueOf = new Int32Array(ends.length + 1);
    let [length, which] = [0, 0];
    for (let i = first; i < end; i++) {
      const member = this.#byKey[i]!;
      const [from, to] = [this.#froms[member]!, this.#tos[member]!];
      const value = this.#text.slice(from, to);
      let code = known.get(value);
      if (code === undefined) {
        known.set(value, code = known.size + 1);
        writer.bytes(bytes.subarray(from, to));
        valueEnds.push(length += to - from);
      }
      while (ends[which]! <= from) which++;
      valueOf[which + 1] = code;
    }
    return {
      codes: codes.map((code) => valueOf[code]!),
      ends: Uint32Array.from(valueEnds),
      bytes: writer.end(),
    };
  }

  #holesOf(text: number, isChosen: Uint8Array): number[] {
    const holes: number[] = [];
    for (let i = this.#firsts[text]!; i < this.#firsts[text + 1]!; i++) {
      if (isChosen[this.#members[i]!] === 1) holes.push(i);
    }
    return holes;
  }

  #forget(first: number): void {
    this.#members.length = this.#froms.length = this.#tos.length = first;
  }

  #group(): void {
    if (this.#keyStarts.length > 0) return;
    const starts = new Uint32Array(this.#keys.names.length + 1);
    for (const key of this.#members) starts[key + 1]!++;
    for (let key = 1; key < starts.length; key++) starts[key]! += starts[key - 1]!;
    const next = starts.slice();
    this.#byKey = new Uint32Array(this.#members.length);
    for (const [member, key] of this.#members.entries()) this.#byKey[next[key]!++] = member;
    this.#keyStarts = starts;
  }
}

/**
 * Splits the properties of sources that become one segment.
 * @param slotEventsMin the events that a key must be on to get a slot
 */
export async function splitProperties(
  sources: readonly EventSource[],
  yieldIfDue: Yield,
  slotEventsMin: number,
): Promise<SplitProperties> {
  const keys = new Keys();
  const all = sources.map((source) => new SourceProperties(source, keys));
  for (const one of all) await one.scan(yieldIfDue);
  const chosen = keys.chosen(slotEventsMin);
  for (const one of all) await one.withSlotsOf(chosen, yieldIfDue);
  const isChosen = new Uint8Array(keys.names.length);
  for (const key of chosen) isChosen[key] = 1;
  const templates: TextColumn[] = [];
  for (const one of all) templates.push(await one.templates(isChosen, yieldIfDue));
  return {
    keys: chosen.map((key) => keys.names[key]!),
    templates,
    valuesOf: (slot) => all.map((one) => one.valuesOf(chosen[slot]!)),
  };
}
