/// <reference lib="dom" />
import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiProblem } from "./api_problem.ts";

export interface RequestState<Args extends readonly unknown[] = readonly []> {
  readonly isBusy: boolean;
  /** Why the last request failed; null: it did not, or is under way. */
  readonly problem: ApiProblem | null;
  /** Sends it, unless it is under way. */
  readonly run: (...args: Args) => Promise<void>;
  /** Forgets the problem, as what was refused is being changed. */
  readonly clearProblem: () => void;
}

/**
 * Gives the focus back to a button that lost it by being disabled during its request. If the button is gone by
 * then, the block around it, `place`, gets it.
 */
export function useKeptFocus(isBusy: boolean, place?: RefObject<HTMLElement | null>): void {
  const before = useRef<Element | null>(null);
  // During this rendering, the button is still enabled.
  if (isBusy) before.current ??= document.activeElement;
  useLayoutEffect(() => {
    if (isBusy) return;
    const pressed = before.current;
    before.current = null;
    const isLost = () => document.activeElement === document.body;
    if (!(pressed instanceof HTMLElement) || pressed === document.body || !isLost()) return;
    pressed.focus({ preventScroll: true });
    // The button is gone, or disabled for good.
    if (isLost()) place?.current?.focus();
  }, [isBusy]);
}

/**
 * Gives the focus to what `find` returns, whenever `of` changes, if it was lost with a control that is gone.
 */
export function useLostFocus(find: () => HTMLElement | null | undefined, of: unknown): void {
  const before = useRef(of);
  useLayoutEffect(() => {
    if (before.current !== of && document.activeElement === document.body) find()?.focus();
    before.current = of;
  }, [of]);
}

/**
 * Brings the first message about a refused request into view, with its field: a form may be taller than a phone, with its button
 * below it.
 */
function useSeenProblem(problem: ApiProblem | null): void {
  useLayoutEffect(() => {
    if (problem === null) return;
    // Safari gives no button the focus.
    const form = document.querySelector("dialog[open]") ?? document.activeElement?.closest("form");
    const message = form?.querySelector("[role=alert]");
    (message?.closest(".field") ?? message)?.scrollIntoView({ block: "nearest" });
  }, [problem]);
}

/**
 * The state of one request of a form or a dialog. `isOver`: after it succeeds, nothing is left to do, and the
 * button stays disabled. `place`: see `useKeptFocus`.
 */
export function useRequest<Args extends readonly unknown[] = readonly []>(
  ask: (...args: Args) => Promise<void>,
  { isOver = true, place }: { isOver?: boolean; place?: RefObject<HTMLElement | null> } = {},
): RequestState<Args> {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  useKeptFocus(isBusy, place);
  useSeenProblem(problem);
  const run = async (...args: Args) => {
    if (isBusy) return;
    setBusy(true);
    setProblem(null);
    try {
      await ask(...args);
      if (!isOver) setBusy(false);
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      setProblem(error);
      setBusy(false);
    }
  };
  return { isBusy, problem, run, clearProblem: () => setProblem(null) };
}

/** Why a request was refused, in the server's words, except what fields show. */
export function Refused({ problem }: { problem: ApiProblem | null }) {
  const rest = problem?.rest ?? null;
  return rest === null ? null : <p role="alert" class="field-error">{rest}</p>;
}
