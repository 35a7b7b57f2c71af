import { parseAddress } from "../http/ip_address.ts";
import { isMembers, type Members } from "../json_text.ts";

/** A text or number of theirs as a text; what is neither, or empty, is absent. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** What the client adds unasked must not spoil an event: too long, it is left out. */
export function atMost(value: unknown, lengthMax: number): string | undefined {
  const given = textOf(value);
  return given !== undefined && given.length <= lengthMax ? given : undefined;
}

/** An object of theirs; what is none has no members. */
export function membersOf(value: unknown): Members {
  return isMembers(value) ? value : {};
}

/** `members` without those that stand in `names`. Built without a prototype: `__proto__` is a name like any other. */
export function without(members: Members, names: ReadonlySet<string>): Members {
  const rest = Object.create(null) as Members;
  for (const name in members) if (!names.has(name)) rest[name] = members[name];
  return rest;
}

/** `{ width, height }`, where both are numbers; else absent. */
export function sizeOf(width: unknown, height: unknown): Members | undefined {
  return typeof width === "number" && typeof height === "number" ? { width, height } : undefined;
}

/** The address of a visitor, where it is one: a word such as `unknown` says nothing. */
export function addressOf(value: unknown): string | undefined {
  const text = textOf(value);
  return text !== undefined && parseAddress(text) !== null ? text : undefined;
}

/** `members` without those that have no value. */
export function present(members: Members): Members {
  const rest = Object.create(null) as Members;
  for (const name in members) {
    const value = members[name];
    if (value !== undefined && value !== null) rest[name] = value;
  }
  return rest;
}
