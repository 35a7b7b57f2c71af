/// <reference lib="dom" />
import { useEffect, useRef, useState } from "preact/hooks";
import { read } from "../api.ts";
import { ApiProblem } from "../api_problem.ts";
import { addDays, dateIn, READ_DAYS_MAX } from "../location_query.ts";

const PATH = "/v1/events";
const POLL_MS = 1_500;
const POLL_MS_MAX = 20_000;
/** After a wait of this length, possible reasons are shown. */
const HINT_MS = 20_000;

/** What is shown of an event that arrived. */
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

/** The latest event before the wait, if any. Throws ApiProblem, AbortError. */
async function before(signal: AbortSignal): Promise<EventsReply> {
  const from = addDays(dateIn("UTC", Date.now()), -READ_DAYS_MAX);
  return await read<EventsReply>(PATH, { from, bots: "include", limit: 1 }, signal);
}

/** The next event that is stored; null: the wait was ended. A hidden page does not poll. */
async function nextEvent(
  { start, isFirst }: { readonly start: string; readonly isFirst: boolean },
  signal: AbortSignal,
  onPoll: () => void,
): Promise<ReceivedEvent | null> {
  /** Null: the cursor has expired in a long wait. */
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
      // In a project that had none before, any event arrived meanwhile.
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
 * Waits for the next event of the project, bots' included; in a project without any the wait begins by itself.
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
      const show = () =>
        setWaiting({ state: "waiting", isFirst, isLong: Date.now() - sinceMs > HINT_MS });
      show();
      const event = await nextEvent({ start: tailCursor, isFirst }, signal, show);
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
