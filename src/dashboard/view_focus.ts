/// <reference lib="dom" />
import { useEffect, useRef } from "preact/hooks";

interface Titled {
  readonly id: string;
  readonly title: string;
}

/**
 * A new view is announced, and reading goes on at its title. `of`: what it is a view of.
 * @returns the heading's place
 */
export function useViewFocus(current: Titled, of: string | undefined) {
  const heading = useRef<HTMLHeadingElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) heading.current?.focus({ preventScroll: true });
    if (!isFirst.current) scrollTo({ top: 0 });
    isFirst.current = false;
  }, [current.id]);
  useEffect(() => {
    document.title = [current.title, of, "Footfall"].filter(Boolean).join(" · ");
  }, [current.id, of]);
  return heading;
}
