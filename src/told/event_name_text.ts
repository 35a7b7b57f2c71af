import { z } from "zod";
import { NAME_LENGTH_MAX } from "../limits.ts";

/** The name of an event as definitions have it. */
export const EventNameText = z.string().min(1, "Give the name of an event.")
  .max(NAME_LENGTH_MAX, `Use at most ${NAME_LENGTH_MAX} characters.`)
  .refine(
    (text) => text.isWellFormed() && !text.includes("\0"),
    "Use text without NUL and lone surrogates.",
  );
