/// <reference lib="dom" />
import { useEffect, useRef, useState } from "preact/hooks";

/** Whether the element has come near the window yet. */
export function useNear<T extends Element>() {
  const element = useRef<T>(null);
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const watch = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      setNear(true);
      watch.disconnect();
    }, { rootMargin: "200px" });
    watch.observe(element.current!);
    return () => watch.disconnect();
  }, []);
  return { element, isNear };
}
