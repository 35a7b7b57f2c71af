import { concat, decodeText } from "../http/body.ts";
import { parseJson } from "../json_text.ts";
import {
  API_KEY_LENGTH_MAX,
  BODY_CONTAINERS_MAX,
  BODY_VALUES_MAX,
  ENVELOPE_VALUES_MAX,
  EVENT_VALUES_MAX,
  EVENTS_PER_REQUEST_MAX,
  NESTING_LEVELS_MAX,
  SCAN_STEP_BYTES,
  SMALL_BODY_BYTES,
} from "../limits.ts";
import { Problem, type ProblemCode } from "../problem.ts";
import { type Suspicion, suspicionOf, tooDeep, tooLarge } from "./event_schema.ts";

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
const EVENTS = spellingsOf("events");
const API_KEY = spellingsOf("apiKey");

function tooMuch(code: ProblemCode, detail: string): Problem {
  return new Problem(code, `${detail} Send fewer events in one request.`, {
    headers: { "Connection": "close" },
  });
}

function tooManyEvents(): Problem {
  const most = `Send at most ${EVENTS_PER_REQUEST_MAX} events in one request.`;
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
  /** Null: there is no array of that name. */
  events: EventPlace[] | null = null;
  /** Why the body holds too much, as soon as it does. */
  excess: Problem | null = null;

  #apiKey: string | null = null;
  #at = 0;
  #depth = 0;
  #isObject = false;
  #inText = false;
  #isEscaped = false;
  #namesNext = false;
  #member: "events" | "apiKey" | null = null;
  /** The text at the top level that is being read; null: it is of no interest. */
  #text: string | null = null;
  #inEvents = false;
  #containers = 0;
  #values = 0;
  #valuesOfEvents = 0;
  #eventStart = 0;
  #valuesAtStart = 0;
  #deepest = 0;
  #isBlank = true;

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
    else this.#begin(EVENTS.test(text) ? "events" : API_KEY.test(text) ? "apiKey" : null);
  }

  #begin(member: "events" | "apiKey" | null): void {
    this.#namesNext = false;
    this.#member = member;
    if (member === "apiKey") this.#apiKey = null;
    if (member !== "events") return;
    // What stood there before is no event any more, but is parsed with the rest.
    this.events = null;
    this.#valuesOfEvents = 0;
  }

  #open(byte: number, at: number): void {
    this.#isBlank = false;
    this.#count(++this.#containers);
    const isEvents = this.#depth === 1 && this.#member === "events" && byte === BRACKET_OPENS;
    if (this.#depth === 0) this.#isObject = this.#namesNext = byte === BRACE_OPENS;
    this.#depth++;
    if (this.#depth > this.#deepest) this.#deepest = this.#depth;
    if (!isEvents) return;
    this.#inEvents = true;
    this.events = [];
    this.#beginEvent(at + 1);
  }

  #next(at: number): void {
    this.#count(this.#containers);
    if (this.#depth === 1) {
      this.#namesNext = this.#isObject;
      this.#member = null;
    } else if (this.#depth === 2 && this.#inEvents) {
      this.#endEvent(at);
      this.#beginEvent(at + 1);
      if (this.events!.length < EVENTS_PER_REQUEST_MAX) return;
      this.excess ??= tooManyEvents();
    }
  }

  #close(at: number): void {
    this.#depth--;
    if (this.#depth !== 1 || !this.#inEvents) return;
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
    // Not the array that holds the events, and what holds that.
    const levels = this.#deepest - 2;
    this.events!.push({ start: this.#eventStart, end, values, levels });
  }

  /** Each value but the first of its container has a comma before it. */
  #count(containers: number): void {
    this.#values++;
    const beside = this.#inEvents ? 0 : this.#values - this.#valuesOfEvents;
    if (containers > BODY_CONTAINERS_MAX) {
      const detail = `The body holds more than ${BODY_CONTAINERS_MAX} objects and arrays.`;
      this.excess ??= tooMuch("body_too_large", detail);
    } else if (this.#values > BODY_VALUES_MAX) {
      this.excess ??= tooMuch(
        "body_too_large",
        `The body holds more than ${BODY_VALUES_MAX} values.`,
      );
    } else if (beside > ENVELOPE_VALUES_MAX) {
      const detail = `The body holds more than ${ENVELOPE_VALUES_MAX} values beside its events.`;
      this.excess ??= tooMuch("body_too_large", detail);
    }
  }
}

/**
 * Looks at a body as it comes, and refuses it for what it holds too much of. Where the sender is known
 * the look begins once there is more than SMALL_BODY_BYTES: a smaller body is parsed whole in any
 * case, which tells of its events as much, and the look at one takes 1.5 µs an event.
 */
export class BodyLook {
  readonly #scan = new EnvelopeScan();
  /** What has come and is not looked at yet; null: all is looked at. */
  #unseen: Uint8Array[] | null;
  #bytes = 0;
  /** Whether the body was refused for what it holds. */
  isRefused = false;

  constructor(isSenderKnown: boolean) {
    this.#unseen = isSenderKnown ? [] : null;
  }

  /** The key that an unknown sender brings; null: none. */
  get apiKey(): string | null {
    return this.#scan.apiKey;
  }

  /** Throws what the body holds too much of (413). */
  push(part: Uint8Array): void {
    if (this.#unseen === null) return this.#look(part);
    this.#unseen.push(part);
    this.#bytes += part.length;
    if (this.#bytes <= SMALL_BODY_BYTES) return;
    const parts = this.#unseen;
    this.#unseen = null;
    for (const unseen of parts) this.#look(unseen);
  }

  /** Reads the body that was looked at. Throws as `readEnvelope` does, and `too_many_events` (413). */
  read(bytes: Uint8Array<ArrayBuffer>): Envelope {
    const envelope = readEnvelope(bytes, this.#scan);
    if (envelope.count > EVENTS_PER_REQUEST_MAX) this.#refuse(tooManyEvents());
    return envelope;
  }

  #look(part: Uint8Array): void {
    for (let at = 0; at < part.length; at += SCAN_STEP_BYTES) {
      this.#scan.push(part.subarray(at, at + SCAN_STEP_BYTES));
      if (this.#scan.excess !== null) this.#refuse(this.#scan.excess);
    }
  }

  #refuse(problem: Problem): never {
    this.isRefused = true;
    throw problem;
  }
}

/** A body whose sender is known: what it says beside its events, and these one by one. */
export interface Envelope {
  readonly sentAt: unknown;
  readonly count: number;
  /** Whether the body has at most SMALL_BODY_BYTES: its events are parsed already. */
  readonly isSmall: boolean;
  /** Throws RejectedEvent for one that holds too much, Problem for what is no JSON. */
  eventAt(index: number): { readonly event: unknown; readonly suspicion: Suspicion };
}

/** Reads a body that was looked at. Throws `invalid_json`, `invalid_encoding`, `invalid_envelope` (400). */
export function readEnvelope(bytes: Uint8Array<ArrayBuffer>, scan: EnvelopeScan): Envelope {
  // In one go a small body takes half the time.
  return bytes.length <= SMALL_BODY_BYTES ? readWhole(bytes) : readInParts(bytes, scan.events);
}

function readWhole(bytes: Uint8Array): Envelope {
  const text = decodeText(bytes);
  const { events, sentAt } = membersOf(parsePart(text));
  const suspicion = suspicionOf(text);
  const eventAt = (index: number) => ({ event: events[index], suspicion });
  return { sentAt, count: events.length, isSmall: true, eventAt };
}

const ZERO = new Uint8Array([0x30]);

/**
 * The events stand as 0 in what is parsed of the body at first, and each is parsed when it is asked
 * for: the whole is JSON where both are.
 */
export function readInParts(
  bytes: Uint8Array<ArrayBuffer>,
  places: readonly EventPlace[] | null,
): Envelope {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let from = 0;
  for (const { start, end } of places ?? []) {
    pieces.push(bytes.subarray(from, start), ZERO);
    from = end;
  }
  pieces.push(bytes.subarray(from));
  const { sentAt, events } = membersOf(parsePart(decodeText(concat(pieces))));
  return {
    sentAt,
    count: events.length,
    isSmall: false,
    eventAt(index) {
      const { start, end, values, levels } = places![index]!;
      // One level is the event itself.
      if (values > EVENT_VALUES_MAX) throw levels > 1 + NESTING_LEVELS_MAX ? tooDeep() : tooLarge();
      const text = decodeText(bytes.subarray(start, end), "within");
      return { event: parsePart(text), suspicion: suspicionOf(text) };
    },
  };
}

function membersOf(
  body: unknown,
): { readonly events: readonly unknown[]; readonly sentAt: unknown } {
  const { events, sentAt } = typeof body === "object" && body !== null
    ? body as Record<string, unknown>
    : {};
  if (Array.isArray(events)) return { events, sentAt };
  throw new Problem("invalid_envelope", 'Send `{ "events": [ … ] }`.');
}

/** A part of the body as JSON. Throws `invalid_json` (400). */
function parsePart(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new Problem("invalid_json", "The body must be one JSON document.");
  }
}
