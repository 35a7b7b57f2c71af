import type { EventRow } from "./event_row.ts";

/** What a column holds of each event. Numbers: NaN for none; flags of a row: see `FLAG_CODES`. */
export type ColumnKind = "integers" | "numbers" | "texts" | "ids";

interface ColumnSpec {
  readonly kind: ColumnKind;
  /** Of a text: the column of numbers that tells it, as a rule. */
  readonly key?: IntegerName;
}

const integers = { kind: "integers" } as const;
const numbers = { kind: "numbers" } as const;
const texts = { kind: "texts" } as const;
const textBy = (key: IntegerName) => ({ kind: "texts", key }) as const;

/**
 * All columns of a segment, in the order in which they lie; the place of each is its number in the
 * directory. Append only. Those of one word in the plural are numbers of the project's dictionaries
 * (0: none); those that are named as members of `EventRow` give the row back, together with these.
 */
const SPECS = {
  // Of each run of events of one identity whose it is, and how many they are.
  identities: integers,
  runs: integers,
  // Milliseconds since the segment's first event.
  times: integers,
  names: integers,
  paths: integers,
  contexts: integers,
  traffics: integers,
  // Where heat maps count a click or a scroll: see heatmap_cell.ts.
  cells: integers,
  titles: integers,
  referrers: integers,
  ids: { kind: "ids" },
  properties: texts,
  pointer_x: numbers,
  pointer_y: numbers,
  depth_px: numbers,
  document_width: numbers,
  document_height: numbers,
  viewport_width: numbers,
  viewport_height: numbers,
  fixed: integers,
  rage: integers,
  dead: integers,
  selector: texts,
  // Milliseconds after the event itself.
  received_at: numbers,
  clock: texts,
  name: textBy("names"),
  anonymous_id: texts,
  user_id: texts,
  session_id: texts,
  visitor_hash: texts,
  ip: texts,
  located: integers,
  country: textBy("contexts"),
  region: textBy("contexts"),
  city: textBy("contexts"),
  host: textBy("contexts"),
  path: textBy("paths"),
  url_rest: texts,
  url: texts,
  referrer: textBy("referrers"),
  title: textBy("titles"),
  utm_source: textBy("traffics"),
  utm_medium: textBy("traffics"),
  utm_campaign: textBy("traffics"),
  utm_term: textBy("traffics"),
  utm_content: textBy("traffics"),
  click_id_kind: textBy("traffics"),
  browser: textBy("contexts"),
  os: textBy("contexts"),
  device: textBy("contexts"),
  bot: integers,
  in_session: integers,
  screen_width: numbers,
  screen_height: numbers,
  locale: texts,
  timezone: texts,
  extra: texts,
  // Milliseconds after the event itself, where another time was sent.
  sent_at: numbers,
  interactive: integers,
} as const satisfies Record<string, ColumnSpec>;

type Specs = typeof SPECS;
type NameOf<K extends ColumnKind> = {
  [N in keyof Specs]: Specs[N] extends { readonly kind: K } ? N : never;
}[keyof Specs];

export type ColumnName = keyof Specs;
/** Columns of whole numbers of 32 bits. */
export type IntegerName =
  | ("identities" | "runs" | "times" | "names" | "paths" | "contexts" | "traffics")
  | ("cells" | "titles" | "referrers")
  | ("fixed" | "rage" | "dead" | "located" | "bot" | "in_session" | "interactive");
export type NumberName = NameOf<"numbers">;
export type TextName = NameOf<"texts">;
/** Members of a row that are told by yes, no, or nothing. */
export type FlagName = Extract<keyof EventRow, IntegerName>;

export const COLUMNS = Object.keys(SPECS) as readonly ColumnName[];

const named = <K extends ColumnKind>(kind: K) =>
  COLUMNS.filter((name): name is NameOf<K> => SPECS[name].kind === kind);
export const NUMBER_COLUMNS = named("numbers");
export const TEXT_COLUMNS = named("texts");
export const FLAG_COLUMNS = [
  ...["fixed", "rage", "dead", "located", "bot", "in_session", "interactive"] as const,
] as const;

/** What each read of a segment loads. */
export const HOT_COLUMNS = [
  "identities",
  "runs",
  "times",
  "names",
  "paths",
  "contexts",
  "traffics",
  "interactive",
] as const satisfies readonly IntegerName[];

/** What an event is made of that is shown: all but whose it is and where heat maps count it. */
export const ROW_COLUMNS = COLUMNS.filter((name) =>
  name !== "identities" && name !== "runs" && name !== "cells"
);

export function kindOf(name: ColumnName): ColumnKind {
  return SPECS[name].kind;
}

/** The column that tells a text, as a rule; null: none does. */
export function keyOf(name: TextName): IntegerName | null {
  const spec: ColumnSpec = SPECS[name];
  return spec.key ?? null;
}

/** What stands for a flag in its column. */
export const FLAG_CODES = { none: 0, no: 1, yes: 2 } as const;
