import type { EventRow } from "./event_row.ts";

/** What a column holds per event. In numbers NaN stands for none; flags are integers: see `FLAG_CODES`. */
type ColumnKind = "integers" | "numbers" | "texts" | "ids";

interface ColumnSpec {
  readonly kind: ColumnKind;
  /** Of a text column: the key column, whose number usually determines the text. */
  readonly key?: IntegerName;
}

const integers = { kind: "integers" } as const;
const numbers = { kind: "numbers" } as const;
const texts = { kind: "texts" } as const;
const textBy = (key: IntegerName) => ({ kind: "texts", key }) as const;

/**
 * All columns of a segment but the property slots, in their order in the body; the place of a column here is
 * its number in the directory. Append only, up to SLOT_NUMBER_MIN. Columns with a plural noun as name
 * (`names`, `paths`, …) hold numbers of the project's dictionaries (0: none). Columns named like members of
 * `EventRow` hold these members; `times` and `ids` hold the row's `occurred_at` and `event_id`.
 */
const SPECS = {
  // One entry per run: its identity, and how many events it has.
  identities: integers,
  runs: integers,
  // Milliseconds since the segment's first event.
  times: integers,
  names: integers,
  paths: integers,
  contexts: integers,
  traffics: integers,
  // Heatmap cells: see heatmap_cell.ts.
  cells: integers,
  titles: integers,
  referrers: integers,
  ids: { kind: "ids" },
  // Templates, where the segment has property slots: see property_split.ts.
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
  // Milliseconds after the event.
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
  // Milliseconds after the event, where the client sent another time.
  sent_at: numbers,
  interactive: integers,
} as const satisfies Record<string, ColumnSpec>;

type Specs = typeof SPECS;
type NameOf<K extends ColumnKind> = {
  [N in keyof Specs]: Specs[N] extends { readonly kind: K } ? N : never;
}[keyof Specs];

/** A text column with the values of one property; the segment's directory says of which. */
export type SlotName = `property_${number}`;
export type ColumnName = keyof Specs | SlotName;
/** Columns of whole numbers of 32 bits. */
export type IntegerName =
  | ("identities" | "runs" | "times" | "names" | "paths" | "contexts" | "traffics")
  | ("cells" | "titles" | "referrers")
  | ("fixed" | "rage" | "dead" | "located" | "bot" | "in_session" | "interactive");
export type NumberName = NameOf<"numbers">;
export type TextName = NameOf<"texts">;
/** Members of a row that are true, false or null. */
export type FlagName = Extract<keyof EventRow, IntegerName>;

/** The columns that every segment may have. */
export const NAMED_COLUMNS = Object.keys(SPECS) as readonly (keyof Specs)[];
/** The first number of a slot in the directory; lower ones are for the named columns. */
const SLOT_NUMBER_MIN = 64;
const SLOTS_STORED_MAX = 256 - SLOT_NUMBER_MIN;
export const SLOTS = Array.from(
  { length: SLOTS_STORED_MAX },
  (_, slot): SlotName => `property_${slot}`,
);
export const COLUMNS: readonly ColumnName[] = [...NAMED_COLUMNS, ...SLOTS];

const named = <K extends ColumnKind>(kind: K) =>
  NAMED_COLUMNS.filter((name): name is NameOf<K> => SPECS[name].kind === kind);
export const NUMBER_COLUMNS = named("numbers");
export const TEXT_COLUMNS = named("texts");
export const FLAG_COLUMNS: readonly FlagName[] = [
  ...["fixed", "rage", "dead", "located", "bot", "in_session", "interactive"] as const,
];

/** The columns that every read of a segment loads. */
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

/** The columns that make up whole events: all except identities and heatmap cells. */
export const ROW_COLUMNS = COLUMNS.filter((name) =>
  name !== "identities" && name !== "runs" && name !== "cells"
);

/** Returns the number of a column in the directory. */
export function numberOfColumn(name: ColumnName): number {
  return isSlot(name) ? SLOT_NUMBER_MIN + SLOTS.indexOf(name) : NAMED_COLUMNS.indexOf(name);
}

export function columnOfNumber(number: number): ColumnName {
  return number < SLOT_NUMBER_MIN ? NAMED_COLUMNS[number]! : SLOTS[number - SLOT_NUMBER_MIN]!;
}

function isSlot(name: ColumnName): name is SlotName {
  return !Object.hasOwn(SPECS, name);
}

export function kindOf(name: ColumnName): ColumnKind {
  return isSlot(name) ? "texts" : SPECS[name].kind;
}

/** Returns the key column of a text column; null: it has none. */
export function keyOf(name: TextName | SlotName): IntegerName | null {
  if (isSlot(name)) return null;
  const spec: ColumnSpec = SPECS[name];
  return spec.key ?? null;
}

/** The numbers that stand for null, false and true in the column of a flag. */
export const FLAG_CODES = { none: 0, no: 1, yes: 2 } as const;
