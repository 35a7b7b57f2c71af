/** Schemas of the texts in requests. */
import { z } from "zod";
import { NAME_LENGTH_MAX } from "./limits.ts";

/** Whether PostgreSQL can store a text. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

const storable = (text: z.ZodString) =>
  text.refine(isStorable, "Use text without NUL and lone surrogates.");
const plain = (text: z.ZodString) =>
  text.refine(
    (given) => given.isWellFormed() && !/\p{Cc}/u.test(given),
    "Use text without control characters and lone surrogates.",
  );

/** Text that PostgreSQL can store, as in events. */
export const StorableText = storable(z.string());

/** A single line of text. */
export const PlainText = plain(z.string());

/** A name that people give something. @param missing the message if it is empty */
export const nameText = (missing: string) =>
  plain(z.string().trim()).min(1, missing)
    .max(NAME_LENGTH_MAX, `Use at most ${NAME_LENGTH_MAX} characters.`);

export const Title = nameText("Give a title.");

/** An instant in ISO 8601, or null. */
export const InstantOrNull = z.iso.datetime({
  offset: true,
  error: "Give a time such as 2030-01-01T00:00:00Z, or null.",
}).nullable();

/** The name of an event, in reads and definitions. */
export const EventName = storable(z.string("Give the name of an event."))
  .min(1, "Give the name of an event.")
  .max(NAME_LENGTH_MAX, `Use at most ${NAME_LENGTH_MAX} characters.`);
