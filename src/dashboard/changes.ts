/**
 * The members of `wanted` that differ from `before`. A form sends only these, so that it does not undo what
 * others have changed meanwhile.
 */
export function changesOf<Wanted extends object>(wanted: Wanted, before: object): Partial<Wanted> {
  const was = before as Readonly<Record<string, unknown>>;
  const changed = Object.entries(wanted)
    .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(was[name]));
  return Object.fromEntries(changed) as Partial<Wanted>;
}
