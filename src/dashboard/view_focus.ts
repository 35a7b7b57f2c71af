/// <reference lib="dom" />
import { useEffect, useRef } from "preact/hooks";
import { isReturned, viewParam } from "./location_state.ts";

/** What leads from one visit, person or goal to the whole view. */
export const UNOPENED = { visit: null, person: null, goal: null };

interface Titled {
  readonly id: string;
  readonly title: string;
}

/**
 * A new view, or one of what it lists, is announced, and reading goes on at its title. `of`: what it is a view of.
 * @returns the heading's place
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
