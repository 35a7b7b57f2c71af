import { concat, decodeText } from "../http/body.ts";
import { parseJson } from "../json_text.ts";
import {
  EVENT_VALUES_MAX,
  EVENTS_PER_REQUEST_MAX,
  SCAN_STEP_BYTES,
  SMALL_BODY_BYTES,
} from "../limits.ts";
import { Problem } from "../problem.ts";
import {
  type BodyShape,
  EnvelopeScan,
  type EventPlace,
  OWN_SHAPE,
  tooManyEvents,
} from "./envelope_scan.ts";
import { type Suspicion, suspicionOf, tooDeep, tooLarge } from "./event_schema.ts";
import { EVENT_LEVELS_MAX } from "./ingest_limits.ts";

/**
 * Scans a body as it arrives, and refuses it if it contains too much. If the sender is known, the scan begins
 * only once there is more than SMALL_BODY_BYTES: a smaller body is parsed as a whole anyway, which also finds
 * its events, and scanning takes 1.5 µs per event.
 */
export class BodyInspection {
  readonly #scan: EnvelopeScan;
  /** The parts that have arrived and are not scanned yet; null: all are scanned. */
  #unscanned: Uint8Array[] | null;
  #bytes = 0;
  /** Whether the body was refused because it contains too much. */
  isRefused = false;

  constructor(isSenderKnown: boolean, shape: BodyShape = OWN_SHAPE) {
    this.#scan = new EnvelopeScan(shape);
    this.#unscanned = isSenderKnown ? [] : null;
  }

  /** Applies the limits of another shape, once the sender is known. */
  widen(shape: BodyShape): void {
    this.#scan.shape = shape;
  }

  /** The result of the scan; null: the body was small enough to be parsed without one. */
  get found(): Pick<EnvelopeScan, "events" | "listName"> | null {
    return this.#unscanned === null ? this.#scan : null;
  }

  /** The key in the body of an unknown sender; null: none. */
  get apiKey(): string | null {
    return this.#scan.apiKey;
  }

  /** Throws a Problem (413) if the body contains too much. */
  push(part: Uint8Array): void {
    if (this.#unscanned === null) return this.#scanPart(part);
    this.#unscanned.push(part);
    this.#bytes += part.length;
    if (this.#bytes <= SMALL_BODY_BYTES) return;
    const parts = this.#unscanned;
    this.#unscanned = null;
    for (const each of parts) this.#scanPart(each);
  }

  /** Reads the scanned body. Throws as `readEnvelope` does, and `too_many_events` (413). */
  read(bytes: Uint8Array<ArrayBuffer>): Envelope {
    const envelope = readEnvelope(bytes, this.#scan);
    if (envelope.count > EVENTS_PER_REQUEST_MAX) this.#refuse(tooManyEvents());
    return envelope;
  }

  #scanPart(part: Uint8Array): void {
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

/** A body whose sender is known: its members, and its events one by one. */
export interface Envelope {
  readonly sentAt: unknown;
  readonly count: number;
  /** Whether the body has at most SMALL_BODY_BYTES: its events are parsed already. */
  readonly isSmall: boolean;
  /** Throws RejectedEvent for an event that contains too much, Problem for invalid JSON. */
  eventAt(index: number): { readonly event: unknown; readonly suspicion: Suspicion };
}

/** Reads a scanned body. Throws `invalid_json`, `invalid_encoding`, `invalid_envelope` (400). */
export function readEnvelope(bytes: Uint8Array<ArrayBuffer>, scan: EnvelopeScan): Envelope {
  // Parsing a small body as a whole takes half the time.
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

/** Returns the body as text, with a 0 in place of each event. */
export function textWithout(
  bytes: Uint8Array<ArrayBuffer>,
  places: readonly EventPlace[],
): string {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let from = 0;
  for (const { start, end } of places) {
    pieces.push(bytes.subarray(from, start), ZERO);
    from = end;
  }
  pieces.push(bytes.subarray(from));
  return decodeText(concat(pieces));
}

/**
 * Parses the body with a 0 in place of each event, and each event when it is asked for. The whole body is
 * valid JSON if all of these parts are.
 */
export function readInParts(
  bytes: Uint8Array<ArrayBuffer>,
  places: readonly EventPlace[] | null,
): Envelope {
  const { sentAt, events } = membersOf(parsePart(textWithout(bytes, places ?? [])));
  return {
    sentAt,
    count: events.length,
    isSmall: false,
    eventAt: (index) => parseEventAt(bytes, places![index]!),
  };
}

/** Parses an event of the body. Throws RejectedEvent if it contains too much, Problem for invalid JSON. */
export function parseEventAt(
  bytes: Uint8Array<ArrayBuffer>,
  { start, end, values, levels }: EventPlace,
): { readonly event: unknown; readonly suspicion: Suspicion } {
  // One level is the event itself.
  if (values > EVENT_VALUES_MAX) {
    throw levels > 1 + EVENT_LEVELS_MAX ? tooDeep(EVENT_LEVELS_MAX) : tooLarge();
  }
  const text = decodeText(bytes.subarray(start, end), "within");
  return { event: parsePart(text), suspicion: suspicionOf(text) };
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

/** Parses a part of the body as JSON. Throws `invalid_json` (400). */
export function parsePart(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new Problem("invalid_json", "The body must be one JSON document.");
  }
}
