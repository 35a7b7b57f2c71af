import type { EventRow } from "./event_row.ts";
import { ID_BYTES, uuidOf } from "./id_codec.ts";
import {
  FLAG_CODES,
  FLAG_COLUMNS,
  type FlagName,
  type IntegerName,
  keyOf,
  NUMBER_COLUMNS,
  type NumberName,
  TEXT_COLUMNS,
  type TextName,
} from "./segment_columns.ts";
import type { SegmentEvents } from "./segment_reader.ts";
import { type TextLookUp, textLookUp, wholeProperties } from "./whole_properties.ts";
import type { Yield } from "./yielding.ts";

function flagOf(code: number): boolean | null {
  return code === FLAG_CODES.none ? null : code === FLAG_CODES.yes;
}

/** Lookups of the members of rows by an event's place. */
interface RowColumns {
  readonly moments: Float64Array;
  readonly ids: Uint8Array;
  readonly text: Readonly<Record<TextName, TextLookUp>>;
  readonly number: Readonly<Record<NumberName, (at: number) => number | null>>;
  readonly flag: Readonly<Record<FlagName, (at: number) => boolean | null>>;
}

/** Builds a row, member by member: a loop over the names takes several times as long. */
function rowOf(
  projectId: number,
  { moments, ids, text, number, flag }: RowColumns,
  at: number,
): EventRow {
  const ms = moments[at]!;
  const sentAfter = number.sent_at(at);
  return {
    project_id: projectId,
    event_id: uuidOf(ids, ID_BYTES * at),
    occurred_at: new Date(ms).toISOString(),
    received_at: new Date(ms + number.received_at(at)!).toISOString(),
    clock: text.clock(at)!,
    name: text.name(at)!,
    anonymous_id: text.anonymous_id(at),
    user_id: text.user_id(at),
    session_id: text.session_id(at),
    visitor_hash: text.visitor_hash(at)!,
    ip: text.ip(at),
    located: flag.located(at)!,
    country: text.country(at),
    region: text.region(at),
    city: text.city(at),
    host: text.host(at),
    path: text.path(at),
    url_rest: text.url_rest(at),
    url: text.url(at),
    referrer: text.referrer(at),
    title: text.title(at),
    utm_source: text.utm_source(at),
    utm_medium: text.utm_medium(at),
    utm_campaign: text.utm_campaign(at),
    utm_term: text.utm_term(at),
    utm_content: text.utm_content(at),
    click_id_kind: text.click_id_kind(at),
    browser: text.browser(at),
    os: text.os(at),
    device: text.device(at),
    bot: flag.bot(at),
    in_session: flag.in_session(at)!,
    interactive: flag.interactive(at),
    viewport_width: number.viewport_width(at),
    viewport_height: number.viewport_height(at),
    screen_width: number.screen_width(at),
    screen_height: number.screen_height(at),
    locale: text.locale(at),
    timezone: text.timezone(at),
    pointer_x: number.pointer_x(at),
    pointer_y: number.pointer_y(at),
    document_width: number.document_width(at),
    document_height: number.document_height(at),
    depth_px: number.depth_px(at),
    selector: text.selector(at),
    fixed: flag.fixed(at),
    rage: flag.rage(at),
    dead: flag.dead(at),
    properties: text.properties(at),
    extra: text.extra(at),
    sent_at: sentAfter === null ? null : new Date(ms + sentAfter).toISOString(),
  };
}

/**
 * Decodes all columns, yielding to the event loop between them, and returns a lookup of whole events by their
 * place among those of the reader.
 */
export async function readRows(
  reader: SegmentEvents,
  projectId: number,
  yieldIfDue: Yield,
  moments = reader.moments(),
  ids = reader.ids(moments),
): Promise<(at: number) => EventRow> {
  const keys = new Map<IntegerName, Int32Array>();
  const keysOf = (name: IntegerName | null) => {
    if (name !== null && !keys.has(name)) keys.set(name, new Int32Array(reader.integers(name)));
    return name === null ? undefined : keys.get(name);
  };
  const text: Partial<Record<TextName, RowColumns["text"][TextName]>> = {};
  for (const name of TEXT_COLUMNS) {
    text[name] = name === "properties"
      ? await wholeProperties(reader, yieldIfDue)
      : textLookUp(reader.texts(name, keysOf(keyOf(name))));
    await yieldIfDue();
  }
  const number: Partial<Record<NumberName, RowColumns["number"][NumberName]>> = {};
  for (const name of NUMBER_COLUMNS) {
    const column = reader.numbers(name);
    number[name] = (at) => Number.isNaN(column[at]!) ? null : column[at]!;
    await yieldIfDue();
  }
  const flag: Partial<Record<FlagName, RowColumns["flag"][FlagName]>> = {};
  for (const name of FLAG_COLUMNS) {
    const column = reader.integers(name);
    flag[name] = (at) => flagOf(column[at]!);
  }
  const columns = { moments, ids, text, number, flag } as RowColumns;
  return (at) => rowOf(projectId, columns, at);
}
