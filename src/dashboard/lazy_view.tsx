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

/**
 * Browsers keep in mind which program they did not get, and ask for it no more: the page begins anew, where
 * it was, as soon as there is a server to get it from. @returns whether it does
 */
async function beginsAnew(): Promise<boolean> {
  const { href } = location;
  const response = await fetch(href, { method: "HEAD", cache: "no-store" }).catch(() => null);
  if (!response?.ok) return false;
  location.reload();
  return true;
}

/**
 * A view, or another part of the page, whose program is loaded when it is opened for the first time.
 * @param waiting stands in its place until then
 */
export function lazyView<Props extends object = Record<never, never>>(
  load: () => Promise<ComponentType<Props>>,
  waiting: ComponentChildren = WAITING,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null;
  return function LazyView(props: Props & Attributes) {
    const [hasFailed, setHasFailed] = useState(false);
    const [, setIsLoaded] = useState(loaded !== null);
    useEffect(() => {
      if (loaded !== null) return;
      load().then((component) => {
        loaded = component;
        setIsLoaded(true);
      }, () => setHasFailed(true));
    }, []);
    const retry = async () => {
      setHasFailed(false);
      setHasFailed(!await beginsAnew());
    };
    const View = loaded;
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

/** A part of a view whose program is loaded once it is shown: until then, and without it, there is nothing. */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null;
  return function LazyPart(props: Props) {
    const [, setIsLoaded] = useState(loaded !== null);
    useEffect(() => {
      if (loaded !== null) return;
      load().then((component) => {
        loaded = component;
        setIsLoaded(true);
      }, () => {});
    }, []);
    const Part = loaded;
    return Part === null ? null : <Part {...props} />;
  };
}
