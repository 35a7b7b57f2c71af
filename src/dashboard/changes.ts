/**
 * What of a form is sent where it changes something that is stored: the members of `wanted` that are not as
 * `before`. What nobody touched here stays as somebody else has made it meanwhile.
 */
export function changesOf<Wanted extends object>(wanted: Wanted, before: object): Partial<Wanted> {
  const was = before as Readonly<Record<string, unknown>>;
  const changed = Object.entries(wanted)
    .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(was[name]));
  return Object.fromEntries(changed) as Partial<Wanted>;
}
