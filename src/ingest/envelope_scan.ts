import {
  API_KEY_LENGTH_MAX,
  BODY_CONTAINERS_MAX,
  BODY_VALUES_MAX,
  ENVELOPE_VALUES_MAX,
  EVENTS_PER_REQUEST_MAX,
} from "../limits.ts";
import { Problem } from "../problem.ts";

/** The place of an event in the body, its number of commas and opening brackets, and its depth. */
export interface EventPlace {
  readonly start: number;
  readonly end: number;
  readonly values: number;
  readonly levels: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const BRACKET_OPENS = 0x5b;
const BRACKET_CLOSES = 0x5d;
const BRACE_OPENS = 0x7b;
const BRACE_CLOSES = 0x7d;
const SPACE = 0x20;

/** Returns an expression that matches a name as JSON may write it: each letter as it is or as an escape. */
function spellingsOf(name: string): RegExp {
  const escapeOf = (letter: string) =>
    letter.charCodeAt(0).toString(16).padStart(4, "0")
      .replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const letters = [...name].map((letter) => `(?:${letter}|\\\\u${escapeOf(letter)})`);
  return new RegExp(`^${letters.join("")}$`);
}

const ESCAPE_LENGTH = 6;
/** Longer texts at the top level can be neither a known name nor a key. */
const TEXT_LENGTH_MAX = ESCAPE_LENGTH * API_KEY_LENGTH_MAX;

/** Where a body has its events, and how much it may contain. */
export interface BodyShape {
  /** Names of top-level members that may be the list of events. */
  readonly lists: readonly string[];
  /** Whether the body may be that list itself. */
  readonly mayBeList: boolean;
  readonly eventsMax: number;
  /** The limits of values (commas and opening brackets), of opening brackets, and of values outside the events. */
  readonly valuesMax: number;
  readonly containersMax: number;
  readonly valuesBesideMax: number;
}

/** The shape of bodies of `POST /v1/events`. */
export const OWN_SHAPE: BodyShape = {
  lists: ["events"],
  mayBeList: false,
  eventsMax: EVENTS_PER_REQUEST_MAX,
  valuesMax: BODY_VALUES_MAX,
  containersMax: BODY_CONTAINERS_MAX,
  valuesBesideMax: ENVELOPE_VALUES_MAX,
};

const SPELLINGS = new Map<string, RegExp>();

/** Whether the JSON of a text, without its quotes, stands for `name`. */
function spells(written: string, name: string): boolean {
  return SPELLINGS.getOrInsertComputed(name, spellingsOf).test(written);
}

/** Returns the problem of a body with more events than one request may have. */
export function tooManyEvents(eventsMax = EVENTS_PER_REQUEST_MAX): Problem {
  const most = `Send at most ${eventsMax} events in one request.`;
  return new Problem("too_many_events", most, { headers: { "Connection": "close" } });
}

/**
 * Scans a body once as it arrives, before any of it is parsed: counts its values, and finds its events and
 * its key. It does not check that the body is JSON: brackets are only counted, and the result for a body that
 * is not JSON has no meaning.
 *
 * Of two members with one name the last counts, as in `JSON.parse`.
 */
export class EnvelopeScan {
  /** The places of the events; null: there is no list of events. */
  events: EventPlace[] | null = null;
  /** The name of the member that is the list; null: the body itself is, or there is none. */
  listName: string | null = null;
  /** Why the body is refused; null: it does not contain too much so far. */
  excess: Problem | null = null;

  #apiKey: string | null = null;
  #at = 0;
  #depth = 0;
  #isObject = false;
  #inText = false;
  #isEscaped = false;
  #namesNext = false;
  #member: "list" | "apiKey" | null = null;
  /** What has been read of a text at the top level; null: not in one, or it does not matter. */
  #text: string | null = null;
  #inEvents = false;
  /** The depth of the list's items. */
  #listDepth = 2;
  #containers = 0;
  #values = 0;
  #valuesOfEvents = 0;
  #eventStart = 0;
  #valuesAtStart = 0;
  #deepest = 0;
  #isBlank = true;

  constructor(public shape: BodyShape = OWN_SHAPE) {}

  /** The text of `apiKey`; null: there is none, or it is not a text. */
  get apiKey(): string | null {
    if (this.#apiKey === null || !this.#apiKey.includes("\\")) return this.#apiKey;
    try {
      return JSON.parse(`"${this.#apiKey}"`);
    } catch {
      return null;
    }
  }

  /** Scans the next part of the body. After an `excess` it finds nothing more. */
  push(part: Uint8Array): void {
    if (this.excess !== null) return;
    for (let i = 0; i < part.length; i++) {
      if (this.#inText) {
        i = this.#readText(part, i);
        continue;
      }
      const byte = part[i]!;
      if (byte <= SPACE) continue;
      if (byte === COMMA) this.#next(this.#at + i);
      else if (byte === BRACE_OPENS || byte === BRACKET_OPENS) this.#open(byte, this.#at + i);
      else if (byte === BRACE_CLOSES || byte === BRACKET_CLOSES) this.#close(this.#at + i);
      else {
        this.#isBlank = false;
        if (byte === QUOTE) this.#openText();
      }
    }
    this.#at += part.length;
  }

  /** Continues reading a text. @returns the place of its closing quote, or the end of the part */
  #readText(part: Uint8Array, from: number): number {
    let isEscaped = this.#isEscaped;
    let text = this.#text;
    let i = from;
    for (; i < part.length; i++) {
      const byte = part[i]!;
      if (isEscaped) isEscaped = false;
      else if (byte === BACKSLASH) isEscaped = true;
      else if (byte === QUOTE) break;
      if (text !== null && text.length <= TEXT_LENGTH_MAX) text += String.fromCharCode(byte);
    }
    this.#isEscaped = isEscaped;
    this.#text = text;
    if (i < part.length) this.#closeText();
    return i;
  }

  #openText(): void {
    this.#inText = true;
    if (this.#depth !== 1 || !this.#isObject) return;
    if (this.#namesNext || this.#member === "apiKey") this.#text = "";
  }

  #closeText(): void {
    this.#inText = false;
    const text = this.#text;
    this.#text = null;
    if (text === null) return;
    if (!this.#namesNext) this.#apiKey = text;
    else this.#begin(text);
  }

  #begin(written: string): void {
    this.#namesNext = false;
    this.#member = null;
    if (spells(written, "apiKey")) {
      this.#member = "apiKey";
      this.#apiKey = null;
      return;
    }
    const list = this.shape.lists.find((name) => spells(written, name));
    if (list === undefined) return;
    this.#member = "list";
    // The items of an earlier list are not events any more, but are parsed with the rest.
    this.events = null;
    this.listName = list;
    this.#valuesOfEvents = 0;
  }

  #open(byte: number, at: number): void {
    this.#isBlank = false;
    this.#count(++this.#containers);
    const isList = byte === BRACKET_OPENS &&
      (this.#depth === 1 ? this.#member === "list" : this.#depth === 0 && this.shape.mayBeList);
    if (this.#depth === 0) this.#isObject = this.#namesNext = byte === BRACE_OPENS;
    this.#depth++;
    if (this.#depth > this.#deepest) this.#deepest = this.#depth;
    if (!isList) return;
    this.#inEvents = true;
    this.#listDepth = this.#depth;
    this.events = [];
    this.#beginEvent(at + 1);
  }

  #next(at: number): void {
    this.#count(this.#containers);
    if (this.#inEvents && this.#depth === this.#listDepth) {
      this.#endEvent(at);
      this.#beginEvent(at + 1);
      if (this.events!.length < this.shape.eventsMax) return;
      this.excess ??= tooManyEvents(this.shape.eventsMax);
    } else if (this.#depth === 1) {
      this.#namesNext = this.#isObject;
      this.#member = null;
    }
  }

  #close(at: number): void {
    this.#depth--;
    if (this.#depth !== this.#listDepth - 1 || !this.#inEvents) return;
    this.#inEvents = false;
    this.#member = null;
    // `[]` and `[ ]` have no event.
    if (this.events!.length > 0 || !this.#isBlank) this.#endEvent(at);
  }

  #beginEvent(start: number): void {
    this.#eventStart = start;
    this.#valuesAtStart = this.#values;
    this.#deepest = this.#depth;
    this.#isBlank = true;
  }

  #endEvent(end: number): void {
    const values = this.#values - this.#valuesAtStart;
    this.#valuesOfEvents += values;
    // Without the levels of the list itself and of what contains it.
    const levels = this.#deepest - this.#listDepth;
    this.events!.push({ start: this.#eventStart, end, values, levels });
  }

  /** Counts a value, at its comma, or at the bracket for the first one of a container. */
  #count(containers: number): void {
    this.#values++;
    const beside = this.#inEvents ? 0 : this.#values - this.#valuesOfEvents;
    const { containersMax, valuesMax, valuesBesideMax } = this.shape;
    if (containers > containersMax) this.#exceed(`${containersMax} objects and arrays`);
    else if (this.#values > valuesMax) this.#exceed(`${valuesMax} values`);
    else if (beside > valuesBesideMax) this.#exceed(`${valuesBesideMax} values beside its events`);
  }

  #exceed(what: string): void {
    const detail = `The body holds more than ${what}. Send fewer events in one request.`;
    this.excess ??= new Problem("body_too_large", detail, { headers: { "Connection": "close" } });
  }
}
