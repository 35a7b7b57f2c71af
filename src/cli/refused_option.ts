import type { Command, OptionValues } from "./command.ts";

const UPPER = /[A-Z]/g;

/** The names that an option may have for a member of the API: `devices` is `--device`. */
function optionNames(member: string): string[] {
  const name = member.replace(UPPER, (letter) => `-${letter.toLowerCase()}`);
  return [name, name.replace(/s$/, "")];
}

/**
 * Returns the option that a refused field of a body or a parameter was made of, as it is typed; of several values, with
 * the refused one: people know `--device phone`, not `devices.0`. A field that no option gives is returned unchanged.
 */
export function refusedOption(
  field: string,
  { options }: Pick<Command, "options">,
  values: OptionValues,
): string {
  const [member = "", index] = field.split(/[.[\]]+/);
  const option = Object.keys(options).find((name) => options[name]!.of === member) ??
    optionNames(member).find((name) => Object.hasOwn(options, name));
  if (option === undefined) return field;
  // An empty value means none, and is not sent.
  const sent = values.list(option)?.filter((value) => value !== "");
  const refused = index === undefined ? undefined : sent?.[Number(index)];
  return refused === undefined ? `--${option}` : `--${option} ${refused}`;
}
