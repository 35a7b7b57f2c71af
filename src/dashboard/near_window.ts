/// <reference lib="dom" />
import { useEffect, useRef, useState } from "preact/hooks";

/** True from the moment on in which the element comes near the window. */
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
