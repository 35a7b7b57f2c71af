/** Texts as requests give them, and whether they can be stored. */
import { z } from "zod";
import { NAME_LENGTH_MAX } from "./limits.ts";

/** Whether PostgreSQL can hold a text. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** Text that PostgreSQL can hold, such as events have it. */
export const StorableText = z.string()
  .refine(isStorable, "Use text without NUL and lone surrogates.");

/** Text that people write on one line. */
export const PlainText = z.string().refine(
  (text) => text.isWellFormed() && !/\p{Cc}/u.test(text),
  "Use text without control characters and lone surrogates.",
);

/** What people call something. @param missing what a reply to none says */
export const nameText = (missing: string) =>
  PlainText.trim().min(1, missing)
    .max(NAME_LENGTH_MAX, `Use at most ${NAME_LENGTH_MAX} characters.`);

export const Title = nameText("Give a title.");

/** A time in ISO 8601, or none. */
export const InstantOrNull = z.iso.datetime({
  offset: true,
  error: "Give a time such as 2030-01-01T00:00:00Z, or null.",
}).nullable();

/** The name of an event, in questions and definitions. */
export const EventName = StorableText.min(1, "Give the name of an event.")
  .max(NAME_LENGTH_MAX, `Use at most ${NAME_LENGTH_MAX} characters.`);
