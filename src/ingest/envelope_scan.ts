import {
  API_KEY_LENGTH_MAX,
  BODY_CONTAINERS_MAX,
  BODY_VALUES_MAX,
  ENVELOPE_VALUES_MAX,
  EVENTS_PER_REQUEST_MAX,
} from "../limits.ts";
import { Problem, type ProblemCode } from "../problem.ts";

/** Where one event stands in the body, how many brackets and commas open values in it, and how deep. */
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

/** The name as JSON may spell it: each letter as it is or as an escape. */
function spellingsOf(name: string): RegExp {
  const letters = [...name].map((letter) =>
    `(?:${letter}|\\\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")})`
  );
  return new RegExp(`^${letters.join("")}$`);
}

const ESCAPE_LENGTH = 6;
/** Longer texts at the top level are none of the names, and no key. */
const TEXT_LENGTH_MAX = ESCAPE_LENGTH * API_KEY_LENGTH_MAX;
const API_KEY = spellingsOf("apiKey");

/** Where a body holds its events, and how much it may hold. */
export interface BodyShape {
  /** Names of top-level members that may be the list of events. */
  readonly lists: readonly string[];
  /** Whether the body may be that list itself. */
  readonly mayBeList: boolean;
  readonly eventsMax: number;
  /** Commas and opening brackets, opening brackets alone, and the former beside the events. */
  readonly valuesMax: number;
  readonly containersMax: number;
  readonly valuesBesideMax: number;
}

/** That of `POST /v1/events`. */
export const OWN_SHAPE: BodyShape = {
  lists: ["events"],
  mayBeList: false,
  eventsMax: EVENTS_PER_REQUEST_MAX,
  valuesMax: BODY_VALUES_MAX,
  containersMax: BODY_CONTAINERS_MAX,
  valuesBesideMax: ENVELOPE_VALUES_MAX,
};

const SPELLINGS = new Map<string, RegExp>();

/** Whether a text of JSON, as it is written, says `name`. */
function spells(written: string, name: string): boolean {
  let spellings = SPELLINGS.get(name);
  if (spellings === undefined) SPELLINGS.set(name, spellings = spellingsOf(name));
  return spellings.test(written);
}

function tooMuch(code: ProblemCode, detail: string): Problem {
  return new Problem(code, `${detail} Send fewer events in one request.`, {
    headers: { "Connection": "close" },
  });
}

/** A body with more events than one request may have. */
export function tooManyEvents(eventsMax = EVENTS_PER_REQUEST_MAX): Problem {
  const most = `Send at most ${eventsMax} events in one request.`;
  return new Problem("too_many_events", most, { headers: { "Connection": "close" } });
}

/**
 * One linear look at a body as it arrives, before anything of it is parsed: what it holds at most,
 * where its events stand, and the key that it brings. Whether it is JSON at all is not asked here:
 * brackets are only counted, and what is found of a text that is none says nothing.
 *
 * Of two members of one name the last counts, as in `JSON.parse`.
 */
export class EnvelopeScan {
  /** Null: there is no such list. */
  events: EventPlace[] | null = null;
  /** The name of the member that is the list; null: the body itself is, or there is none. */
  listName: string | null = null;
  /** Why the body holds too much, as soon as it does. */
  excess: Problem | null = null;

  #apiKey: string | null = null;
  #at = 0;
  #depth = 0;
  #isObject = false;
  #inText = false;
  #isEscaped = false;
  #namesNext = false;
  #member: "list" | "apiKey" | null = null;
  /** The text at the top level that is being read; null: it is of no interest. */
  #text: string | null = null;
  #inEvents = false;
  /** How deep the list's items stand. */
  #listDepth = 2;
  #containers = 0;
  #values = 0;
  #valuesOfEvents = 0;
  #eventStart = 0;
  #valuesAtStart = 0;
  #deepest = 0;
  #isBlank = true;

  constructor(public shape: BodyShape = OWN_SHAPE) {}

  /** What stands as `apiKey`; null: nothing, or no text. */
  get apiKey(): string | null {
    if (this.#apiKey === null || !this.#apiKey.includes("\\")) return this.#apiKey;
    try {
      return JSON.parse(`"${this.#apiKey}"`);
    } catch {
      return null;
    }
  }

  /** Looks at the next part of the body. After an `excess` nothing more is found. */
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

  /** Reads on within a text. @returns where its closing quote stands, or the part's last byte */
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
    if (API_KEY.test(written)) {
      this.#member = "apiKey";
      this.#apiKey = null;
      return;
    }
    const list = this.shape.lists.find((name) => spells(written, name));
    if (list === undefined) return;
    this.#member = "list";
    // What stood there before is no event any more, but is parsed with the rest.
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
    // `[]` and `[ ]` hold none.
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
    // Not the list that holds the events, and what holds that.
    const levels = this.#deepest - this.#listDepth;
    this.events!.push({ start: this.#eventStart, end, values, levels });
  }

  /** Each value but the first of its container has a comma before it. */
  #count(containers: number): void {
    this.#values++;
    const beside = this.#inEvents ? 0 : this.#values - this.#valuesOfEvents;
    const { containersMax, valuesMax, valuesBesideMax } = this.shape;
    if (containers > containersMax) this.#exceed(`${containersMax} objects and arrays`);
    else if (this.#values > valuesMax) this.#exceed(`${valuesMax} values`);
    else if (beside > valuesBesideMax) this.#exceed(`${valuesBesideMax} values beside its events`);
  }

  #exceed(what: string): void {
    this.excess ??= tooMuch("body_too_large", `The body holds more than ${what}.`);
  }
}
