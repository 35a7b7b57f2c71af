import { parseAddress } from "../http/ip_address.ts";
import { isMembers, type Members } from "../json_text.ts";

/** A client's text or number as a text; undefined: it is neither, or empty. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A text up to a length; undefined if longer, so that what clients add by themselves fails no event. */
export function atMost(value: unknown, lengthMax: number): string | undefined {
  const given = textOf(value);
  return given !== undefined && given.length <= lengthMax ? given : undefined;
}

/** A client's object; empty if the value is not an object. */
export function membersOf(value: unknown): Members {
  return isMembers(value) ? value : {};
}

/** `members` without `names`. The result has no prototype, so that `__proto__` is a name like any other. */
export function without(members: Members, names: ReadonlySet<string>): Members {
  const rest = Object.create(null) as Members;
  for (const name in members) if (!names.has(name)) rest[name] = members[name];
  return rest;
}

/** `{ width, height }` if both are numbers; else undefined. */
export function sizeOf(width: unknown, height: unknown): Members | undefined {
  return typeof width === "number" && typeof height === "number" ? { width, height } : undefined;
}

/** A visitor's IP address; undefined: it is not one, such as `unknown`. */
export function addressOf(value: unknown): string | undefined {
  const text = textOf(value);
  return text !== undefined && parseAddress(text) !== null ? text : undefined;
}

/** `members` without those that lack a value. */
export function present(members: Members): Members {
  const rest = Object.create(null) as Members;
  for (const name in members) {
    const value = members[name];
    if (value !== undefined && value !== null) rest[name] = value;
  }
  return rest;
}
