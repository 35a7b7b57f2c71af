/// <reference lib="dom" />
import type { Attributes, ComponentChildren, ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiProblem } from "./api_problem.ts";
import { ErrorNote, Skeleton } from "./panel.tsx";

const NOT_LOADED =
  "This part of the page could not be loaded. Check the connection, then try again.";

const WAITING = (
  <div aria-busy="true">
    <Skeleton />
  </div>
);

/** Makes a hook that loads a component, once for all that render it; null: not loaded yet. */
function loadedOnce<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  let loaded: ComponentType<Props> | null = null;
  return function useComponent(onFail: () => void): ComponentType<Props> | null {
    const [, setIsLoaded] = useState(loaded !== null);
    useEffect(() => {
      if (loaded !== null) return;
      load().then((component) => {
        loaded = component;
        setIsLoaded(true);
      }, onFail);
    }, []);
    return loaded;
  };
}

/**
 * Reloads the page if the server can be reached: browsers remember a module that failed to load, and do not
 * ask for it again. @returns whether it reloads
 */
async function reloadIfReachable(): Promise<boolean> {
  const { href } = location;
  const response = await fetch(href, { method: "HEAD", cache: "no-store" }).catch(() => null);
  if (!response?.ok) return false;
  location.reload();
  return true;
}

/**
 * A view, or another part of the page, whose code is loaded when it is first opened.
 * @param waiting shown until then
 */
export function lazyView<Props extends object = Record<never, never>>(
  load: () => Promise<ComponentType<Props>>,
  waiting: ComponentChildren = WAITING,
): ComponentType<Props> {
  const useComponent = loadedOnce(load);
  return function LazyView(props: Props & Attributes) {
    const [hasFailed, setHasFailed] = useState(false);
    const View = useComponent(() => setHasFailed(true));
    const retry = async () => {
      setHasFailed(false);
      setHasFailed(!await reloadIfReachable());
    };
    if (View !== null) return <View {...props} />;
    return hasFailed
      ? (
        <ErrorNote
          problem={new ApiProblem(0, "not_loaded", NOT_LOADED)}
          onRetry={() => void retry()}
        />
      )
      : <>{waiting}</>;
  };
}

/** A part of a view whose code is loaded when it is first shown; nothing until then, or if that fails. */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  const useComponent = loadedOnce(load);
  return function LazyPart(props: Props) {
    const Part = useComponent(() => {});
    return Part === null ? null : <Part {...props} />;
  };
}
