/// <reference lib="dom" />
import { useEffect, useRef, useState } from "preact/hooks";
import { go, viewParam } from "../location_state.ts";
import {
  DEFINITION_NAMES,
  definitionParams,
  type FunnelDefinition,
  isRunnable,
  isSame,
  plain,
  readDefinition,
  type SavedFunnel,
} from "./funnels_definition.ts";

/** So long a pause of typing runs the funnel. */
const PAUSE_MS = 500;

/** Puts a funnel into the address: a saved one as it is by its slug alone. */
export function showFunnel(
  definition: FunnelDefinition | null,
  saved: SavedFunnel | null,
  { replace = false } = {},
): void {
  const isPlain = definition === null || saved !== null && isSame(definition, saved);
  const none = Object.fromEntries(DEFINITION_NAMES.map((name) => [name, null]));
  go({
    params: {
      ...(isPlain ? none : definitionParams(definition)),
      funnel: saved?.slug ?? null,
    },
  }, { replace });
}

export interface Draft {
  readonly value: FunnelDefinition;
  readonly change: (changes: Partial<FunnelDefinition>) => void;
  /** What is typed is not yet what is run. */
  readonly isWaiting: boolean;
}

/**
 * The definition under the person's hands. After a pause it goes into the address, from where it is
 * run; another definition in the address, as by the back button, takes its place.
 */
export function useDraft(shown: FunnelDefinition, saved: SavedFunnel | null): Draft {
  const shownText = JSON.stringify(plain(shown));
  const [value, setValue] = useState(shown);
  const known = useRef(shownText);
  const text = JSON.stringify(plain(value));
  const canRun = isRunnable(value);
  useEffect(() => {
    if (shownText === known.current) return;
    known.current = shownText;
    setValue(shown);
  }, [shownText]);
  useEffect(() => {
    if (!canRun || text === known.current) return;
    const timer = setTimeout(() => {
      // Saved meanwhile, and shown by its name alone.
      if (text === known.current) return;
      // Saved meanwhile: the address has it already, with its name, though nothing is drawn yet.
      const addressed = readDefinition(viewParam);
      if (addressed !== null && JSON.stringify(plain(addressed)) === text) return;
      known.current = text;
      showFunnel(plain(value), saved);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, canRun, saved?.slug]);
  return {
    value,
    change: (changes) => setValue((before) => ({ ...before, ...changes })),
    isWaiting: canRun && text !== shownText,
  };
}
