/// <reference lib="dom" />
import { useEffect, useRef } from "preact/hooks";
import { isReturned, viewParam } from "./location_state.ts";

/** Parameters that lead from one visit, person or goal back to the whole view. */
export const UNOPENED = { visit: null, person: null, goal: null };

interface Titled {
  readonly id: string;
  readonly title: string;
}

/**
 * Announces a new view, or an opened item of it, by moving the focus to its title.
 * @param of what the view is about
 * @returns the heading's ref
 */
export function useViewFocus(current: Titled, of: string | undefined) {
  const heading = useRef<HTMLHeadingElement>(null);
  const isFirst = useRef(true);
  const opened = viewParam("visit") ?? viewParam("person") ??
    (current.id === "goals" ? viewParam("goal") : null);
  useEffect(() => {
    if (!isFirst.current) heading.current?.focus({ preventScroll: true });
    if (!isFirst.current && !isReturned) scrollTo({ top: 0 });
    isFirst.current = false;
  }, [current.id, opened]);
  useEffect(() => {
    document.title = [current.title, of, "Footfall"].filter(Boolean).join(" · ");
  }, [current.id, of]);
  return heading;
}
