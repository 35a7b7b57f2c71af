/// <reference lib="dom" />
import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiProblem } from "./api_problem.ts";

export interface RequestState {
  readonly isBusy: boolean;
  /** Why the last one failed; null: it did not, or is under way. */
  readonly problem: ApiProblem | null;
  /** Sends it, unless it is under way. */
  readonly run: () => Promise<void>;
  /** What was refused is being changed. */
  readonly clearProblem: () => void;
}

/**
 * A button that is off while its request runs loses the focus: it has it again, to be pressed once more. Where it
 * has gone by then, `place` has it, the block that it stood in.
 */
export function useKeptFocus(isBusy: boolean, place?: RefObject<HTMLElement | null>): void {
  const before = useRef<Element | null>(null);
  // While this is rendered, the button is still on.
  if (isBusy) before.current ??= document.activeElement;
  useLayoutEffect(() => {
    if (isBusy) return;
    const pressed = before.current;
    before.current = null;
    const isLost = () => document.activeElement === document.body;
    if (!(pressed instanceof HTMLElement) || pressed === document.body || !isLost()) return;
    pressed.focus({ preventScroll: true });
    // It has gone, or there is nothing left to press it for.
    if (isLost()) place?.current?.focus();
  }, [isBusy]);
}

/**
 * One request of a form or a dialog: while it runs, and why it failed. `isOver`: after it went well
 * nothing is left to do, and the button stays off.
 */
export function useRequest(ask: () => Promise<void>, { isOver = true } = {}): RequestState {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  useKeptFocus(isBusy);
  const run = async () => {
    if (isBusy) return;
    setBusy(true);
    setProblem(null);
    try {
      await ask();
      if (!isOver) setBusy(false);
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      setProblem(error);
      setBusy(false);
    }
  };
  return { isBusy, problem, run, clearProblem: () => setProblem(null) };
}

/** Why a request was refused, in the server's words, but for what the fields above it show. */
export function Refused({ problem }: { problem: ApiProblem | null }) {
  const rest = problem?.rest ?? null;
  return rest === null ? null : <p role="alert" class="field-error">{rest}</p>;
}
