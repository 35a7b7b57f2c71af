import { MemberScanner } from "./json_members.ts";
import { SLOTS } from "./segment_columns.ts";
import type { SegmentEvents } from "./segment_reader.ts";
import type { TextColumn } from "./text_codec.ts";
import type { Yield } from "./yielding.ts";

/**
 * Marks, in a template, the place of a value that is in a slot; JSON never contains this character unescaped.
 */
export const HOLE = "\u0001";

const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Decodes one value of a text column, by its place among the values. */
export function textAt({ ends, bytes }: TextColumn, value: number): string {
  return UTF8.decode(bytes.subarray(ends[value - 1] ?? 0, ends[value]!));
}

/** A lookup of an event's text; null: it has none. */
export type TextLookUp = (at: number) => string | null;

/** Returns a lookup that decodes each value of a column once. */
export function textLookUp(column: TextColumn): TextLookUp {
  const known: string[] = [];
  return (at) => {
    const code = column.codes[at]!;
    return code === 0 ? null : known[code] ??= textAt(column, code - 1);
  };
}

/** Returns the keys, as JSON, of the holes of a template, in their order. */
function keysOfHoles(template: string): string[] {
  const keys: string[] = [];
  const members = new MemberScanner(template);
  members.open(0, template.length);
  while (members.next()) {
    if (template[members.from] === HOLE) keys.push(template.slice(members.keyFrom, members.keyTo));
  }
  return keys;
}

/** Reassembles the whole properties of events, as JSON text. Returns a lookup. */
export async function wholeProperties(
  events: SegmentEvents,
  yieldIfDue: Yield,
): Promise<TextLookUp> {
  const templates = events.texts("properties");
  const templateAt = textLookUp(templates);
  const valuesOf = new Map<string, TextLookUp>();
  for (const [slot, key] of events.slotKeys.entries()) {
    await yieldIfDue();
    valuesOf.set(key, textLookUp(events.texts(SLOTS[slot]!)));
  }
  if (valuesOf.size === 0) return templateAt;
  /** By template: the texts between its holes, and the lookups that fill them. */
  const parsed: { readonly between: string[]; readonly values: TextLookUp[] }[] = [];
  return (at) => {
    const template = templateAt(at);
    if (template === null) return null;
    const { between, values } = parsed[templates.codes[at]!] ??= {
      between: template.split(HOLE),
      values: keysOfHoles(template).map((key) => valuesOf.get(key)!),
    };
    // A text that is not JSON may contain the character itself; it has no holes.
    if (values.length !== between.length - 1) return template;
    let whole = between[0]!;
    for (let i = 0; i < values.length; i++) whole += values[i]!(at)! + between[i + 1]!;
    return whole;
  };
}
