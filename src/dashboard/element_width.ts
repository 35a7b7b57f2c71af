/// <reference lib="dom" />
import { useEffect, useRef, useState } from "preact/hooks";

/** The width that an element has, as it changes. */
export function useWidth<E extends HTMLElement>() {
  const element = useRef<E>(null);
  const [widthPx, setWidth] = useState(0);
  useEffect(() => {
    const shown = element.current!;
    const sized = new ResizeObserver(() => setWidth(shown.clientWidth));
    sized.observe(shown);
    setWidth(shown.clientWidth);
    return () => sized.disconnect();
  }, []);
  return { element, widthPx };
}
