import { decodeText } from "../http/body.ts";
import type { Turns } from "../http/turns.ts";
import { BodyInspection, parseEventAt, parsePart, textWithout } from "../ingest/envelope.ts";
import type { BodyShape, EventPlace } from "../ingest/envelope_scan.ts";
import { RejectedEvent, suspicionOf } from "../ingest/event_schema.ts";
import {
  BODY_CONTAINERS_MAX,
  BODY_VALUES_MAX,
  EVENT_VALUES_MAX,
  EVENTS_PER_REQUEST_MAX,
  SLICE_MS,
  SMALL_BODY_BYTES,
} from "../limits.ts";
import { Problem } from "../problem.ts";
import {
  FORM_NAME_LENGTH_MAX,
  LISTED_EVENTS_MAX,
  UNKNOWN_BODY_CONTAINERS_MAX,
  UNKNOWN_BODY_VALUES_MAX,
} from "./client_limits.ts";

/** Where these clients put their events: in `batch` or `events`, as the body itself, or alone. */
const KNOWN_SHAPE: BodyShape = {
  lists: ["batch", "events"],
  mayBeList: true,
  eventsMax: LISTED_EVENTS_MAX,
  valuesMax: BODY_VALUES_MAX,
  containersMax: BODY_CONTAINERS_MAX,
  // Besides the list, there is at most one event that is alone.
  valuesBesideMax: EVENT_VALUES_MAX,
};
const UNKNOWN_SHAPE: BodyShape = {
  ...KNOWN_SHAPE,
  valuesMax: UNKNOWN_BODY_VALUES_MAX,
  containersMax: UNKNOWN_BODY_CONTAINERS_MAX,
};

/** A body as JSON. */
export interface ReadBody {
  readonly value: unknown;
  /** Whether an escape in it may be a NUL or a lone surrogate. */
  readonly isSuspect: boolean;
}

/** A form body begins with a name and an equals sign, unlike JSON. */
const FORM = /^[A-Za-z_$][\w$.[\]-]*=/;
const DATA = /(?:^|&)data=([^&]*)/;
const JSON_START = /^\s*[[{]/;
const LATIN1 = new TextDecoder("latin1");

function isForm(bytes: Uint8Array): boolean {
  return FORM.test(LATIN1.decode(bytes.subarray(0, FORM_NAME_LENGTH_MAX)));
}

function unreadable(detail: string, cause?: unknown): Problem {
  return new Problem("invalid_encoding", detail, { cause });
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw unreadable("`data` is not percent-encoded UTF-8.", cause);
  }
}

/** Decodes the value of `data=`: JSON, or base64 of JSON in either alphabet. */
function decodeData(written: string): Uint8Array<ArrayBuffer> {
  const json = percentDecoded(written.replaceAll("+", " "));
  if (JSON_START.test(json)) return new TextEncoder().encode(json);
  const base64 = percentDecoded(written).replaceAll(" ", "+").replaceAll("-", "+").replaceAll(
    "_",
    "/",
  );
  try {
    return Uint8Array.fromBase64(base64);
  } catch (cause) {
    throw unreadable("`data` is neither JSON nor base64 of it.", cause);
  }
}

/** Reads the bodies of other people's clients, whatever their content type says. */
export class ClientBody {
  #shape: BodyShape;
  readonly #inspection: BodyInspection;
  #inspectionWithin: BodyInspection | null = null;

  constructor(isSenderKnown: boolean) {
    this.#shape = isSenderKnown ? KNOWN_SHAPE : UNKNOWN_SHAPE;
    this.#inspection = new BodyInspection(isSenderKnown, this.#shape);
  }

  /** Whether the body was refused for its content. */
  get isRefused(): boolean {
    return this.#inspection.isRefused || (this.#inspectionWithin?.isRefused ?? false);
  }

  /** Applies the ordinary limits to the content, as the sender is known by now. */
  trust(): void {
    this.#shape = KNOWN_SHAPE;
    this.#inspection.widen(KNOWN_SHAPE);
  }

  /** Counts the next part of the body. Throws a Problem (413) if it has too much of something. */
  push(part: Uint8Array): void {
    this.#inspection.push(part);
  }

  /**
   * Reads the body, or if there is none, the query's `data`. In a body that is not small, events past
   * EVENTS_PER_REQUEST_MAX are not parsed, and are 0 in the list. Throws `invalid_json`,
   * `invalid_encoding` (400).
   */
  async read(bytes: Uint8Array<ArrayBuffer>, query: string, turns: Turns): Promise<ReadBody> {
    if (bytes.length === 0) return this.#readForm(query.slice(1));
    if (isForm(bytes)) return this.#readForm(decodeText(bytes));
    const found = this.#inspection.found;
    return found?.events && bytes.length > SMALL_BODY_BYTES
      ? await readInTurns(bytes, found.events, found.listName, turns)
      : readWhole(bytes);
  }

  #readForm(form: string): ReadBody {
    const written = DATA.exec(form)?.[1];
    if (written === undefined) {
      throw new Problem("invalid_json", "Send JSON, or a form with `data`.");
    }
    const bytes = decodeData(written);
    this.#inspectionWithin = new BodyInspection(false, this.#shape);
    this.#inspectionWithin.push(bytes);
    return readWhole(bytes);
  }
}

function readWhole(bytes: Uint8Array): ReadBody {
  const text = decodeText(bytes);
  return { value: parsePart(text), isSuspect: suspicionOf(text).text };
}

/** Parses event by event, and yields to other work between them. */
async function readInTurns(
  bytes: Uint8Array<ArrayBuffer>,
  places: readonly EventPlace[],
  listName: string | null,
  turns: Turns,
): Promise<ReadBody> {
  const text = textWithout(bytes, places);
  const value = parsePart(text);
  const list = listName === null ? value : (value as Record<string, unknown> | null)?.[listName];
  // Positions in a text that is not JSON mean nothing.
  if (!Array.isArray(list)) return readWhole(bytes);
  let isSuspect = suspicionOf(text).text;
  let sliceStartedAt = performance.now();
  for (const [i, place] of places.slice(0, EVENTS_PER_REQUEST_MAX).entries()) {
    if (performance.now() - sliceStartedAt > SLICE_MS) {
      await turns.next();
      sliceStartedAt = performance.now();
    }
    try {
      const { event, suspicion } = parseEventAt(bytes, place);
      list[i] = event;
      isSuspect ||= suspicion.text;
    } catch (error) {
      if (!(error instanceof RejectedEvent)) throw error;
      // It stays 0, which is refused as well.
    }
  }
  return { value, isSuspect };
}
