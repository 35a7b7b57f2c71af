/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import type { Changes } from "./location_query.ts";
import { go, hrefFor } from "./location_state.ts";

interface ViewLinkProps {
  /** What of the address changes. */
  readonly to: Changes;
  readonly class?: string;
  readonly isCurrent?: boolean;
  /** What it leads to, for who hovers. */
  readonly title?: string;
  /** Its name, where what is shown has none. */
  readonly label?: string | undefined;
  /** Reached by another way than the tabulator. */
  readonly isAside?: boolean;
  readonly children: ComponentChildren;
}

/** A link to another view, or to another part of one. */
export function ViewLink(
  { to, isCurrent = false, isAside = false, title, label, children, ...rest }: ViewLinkProps,
) {
  return (
    <a
      class={rest.class}
      href={hrefFor(to)}
      title={title}
      aria-label={label}
      tabIndex={isAside ? -1 : undefined}
      aria-current={isCurrent ? "page" : undefined}
      onClick={(event) => {
        // Another tab is the browser's business.
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        go(to);
      }}
    >
      {children}
    </a>
  );
}
