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

/** The funnel runs after a pause in typing of this length. */
const PAUSE_MS = 500;

/** Puts a funnel into the address: an unchanged saved one by its slug alone. */
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
  /** Whether the typed definition has still to be run. */
  readonly isWaiting: boolean;
}

/**
 * The definition being edited. After a pause it is put into the address, from where it is run; another
 * definition in the address, as after the back button, replaces it.
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
      // It was saved meanwhile, and the address has its slug alone.
      if (text === known.current) return;
      // It was saved meanwhile: the address has it already, though it is not rendered yet.
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
