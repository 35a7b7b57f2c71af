/// <reference lib="dom" />
import type { ComponentChildren } from "preact";

/** A list of facts by name; those that are null are left out. */
export function Facts(
  { facts }: { facts: readonly (readonly [string, ComponentChildren | null])[] },
) {
  return (
    <dl class="facts">
      {facts.filter(([, fact]) => fact !== null).map(([name, fact]) => (
        <div key={name} class="fact">
          <dt>{name}</dt>
          <dd>{fact}</dd>
        </div>
      ))}
    </dl>
  );
}
