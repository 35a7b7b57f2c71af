/// <reference lib="dom" />
import { useEffect, useRef, useState } from "preact/hooks";
import { read } from "../api.ts";
import { ApiProblem } from "../api_problem.ts";
import { addDays, dateIn } from "../location_query.ts";

const PATH = "/v1/events";
const POLL_MS = 1_500;
const POLL_MS_MAX = 20_000;
/** After so long a wait the reasons for it are worth telling. */
const HINT_MS = 20_000;
/** Reads reach back ten years at most. */
const YEARS_BACK_DAYS = 9 * 365;

/** What is told of an event that came in. */
export interface ReceivedEvent {
  readonly name: string;
  readonly path: string | null;
  readonly timestamp: string;
}

interface EventsReply {
  readonly events: readonly ReceivedEvent[];
  readonly tailCursor: string;
}

export type Waiting =
  | { readonly state: "idle" }
  | { readonly state: "waiting"; readonly isFirst: boolean; readonly isLong: boolean }
  | { readonly state: "received"; readonly isFirst: boolean; readonly event: ReceivedEvent }
  | { readonly state: "failed"; readonly problem: ApiProblem };

/** What the project holds before the wait. Throws ApiProblem, AbortError. */
async function before(signal: AbortSignal): Promise<EventsReply> {
  const from = addDays(dateIn("UTC", Date.now()), -YEARS_BACK_DAYS);
  return await read<EventsReply>(PATH, { from, bots: "include", limit: 1 }, signal);
}

/** The next event that is stored; null where the wait was ended. Nothing is asked while nobody looks. */
async function nextEvent(
  { start, isFirst }: { readonly start: string; readonly isFirst: boolean },
  signal: AbortSignal,
  onPoll: () => void,
): Promise<ReceivedEvent | null> {
  /** Null: the place was waited at for so long that nobody knows it any more. */
  let after: string | null = start;
  let pauseMs = POLL_MS;
  while (!signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if (signal.aborted) return null;
    if (document.hidden) continue;
    onPoll();
    try {
      const reply: EventsReply = after === null
        ? await before(signal)
        : await read<EventsReply>(PATH, { after, bots: "include", limit: 1 }, signal);
      // Of a project that had none before, whichever is there came meanwhile.
      if (reply.events.length > 0 && (after !== null || isFirst)) return reply.events[0]!;
      after = reply.tailCursor;
      pauseMs = POLL_MS;
    } catch (error) {
      if (error instanceof ApiProblem && error.code === "cursor_expired") after = null;
      // A server that is away for a moment does not end the wait.
      pauseMs = Math.min(2 * pauseMs, POLL_MS_MAX);
    }
  }
  return null;
}

/**
 * Waits for the next event of the project, bots' included; of a project without any the wait begins
 * by itself.
 */
export function useFirstEvent() {
  const [waiting, setWaiting] = useState<Waiting>({ state: "idle" });
  const abort = useRef(new AbortController());
  const run = async (isAsked: boolean) => {
    abort.current.abort();
    abort.current = new AbortController();
    const { signal } = abort.current;
    const sinceMs = Date.now();
    try {
      const { events, tailCursor } = await before(signal);
      const isFirst = events.length === 0;
      if (signal.aborted || (!isFirst && !isAsked)) return;
      const told = () =>
        setWaiting({ state: "waiting", isFirst, isLong: Date.now() - sinceMs > HINT_MS });
      told();
      const event = await nextEvent({ start: tailCursor, isFirst }, signal, told);
      if (event !== null) setWaiting({ state: "received", isFirst, event });
    } catch (error) {
      if (signal.aborted || !(error instanceof ApiProblem)) return;
      setWaiting(isAsked ? { state: "failed", problem: error } : { state: "idle" });
    }
  };
  useEffect(() => {
    void run(false);
    return () => abort.current.abort();
  }, []);
  const stop = () => {
    abort.current.abort();
    setWaiting({ state: "idle" });
  };
  return { waiting, start: () => void run(true), stop };
}
