/// <reference lib="dom" />
import { useEffect, useRef, useState } from "preact/hooks";

/** The width of an element's content box. */
function innerWidthOf(element: HTMLElement): number {
  const { paddingLeft, paddingRight } = getComputedStyle(element);
  return element.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
}

/** The width of an element's content box, updated as it changes. */
export function useWidth<E extends HTMLElement>() {
  const element = useRef<E>(null);
  const [widthPx, setWidth] = useState(0);
  useEffect(() => {
    const shown = element.current!;
    const sized = new ResizeObserver(() => setWidth(innerWidthOf(shown)));
    sized.observe(shown);
    setWidth(innerWidthOf(shown));
    return () => sized.disconnect();
  }, []);
  return { element, widthPx };
}
