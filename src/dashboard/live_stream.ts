/// <reference lib="dom" />
import { useEffect, useState } from "preact/hooks";
import { apiUrl, read, request } from "./api.ts";
import { ApiProblem } from "./api_problem.ts";
import { type Params, project, sharedParams } from "./location_state.ts";
import { pause } from "./pause.ts";
import type { LiveReply } from "./replies.ts";
import { eventsOf } from "./sse.ts";

const PATH = "/v1/live";
const PAUSE_MS = 2_000;
const PAUSE_MS_MAX = 30_000;
const POLL_MS = 10_000;
/** After this many streams without an event, a proxy is taken to hold them back. */
const SILENT_STREAMS_MAX = 2;
/** The server sends the first event at once. */
const FIRST_WORD_MS = 8_000;
/** Two keep-alive comments, which come every 15 seconds, and their latency. */
const SILENCE_MS_MAX = 35_000;

export interface Live {
  readonly data: LiveReply | null;
  /** Why there is nothing new; null: all is well. */
  readonly problem: ApiProblem | null;
}

/**
 * Follows one stream until it ends or falls silent: a lost network does not end it.
 * @returns whether an event came
 * @throws ApiProblem, AbortError
 */
async function follow(
  params: Params,
  signal: AbortSignal,
  onReply: (reply: LiveReply) => void,
): Promise<boolean> {
  const silence = new AbortController();
  const waitFor = (ms: number) => setTimeout(() => silence.abort(), ms);
  let timer = waitFor(FIRST_WORD_MS);
  const heard = () => {
    clearTimeout(timer);
    timer = waitFor(SILENCE_MS_MAX);
  };
  let hasSpoken = false;
  try {
    const response = await request(apiUrl(PATH, params), {
      headers: { Accept: "text/event-stream" },
      signal: AbortSignal.any([signal, silence.signal]),
    });
    for await (const { event, data } of eventsOf(response.body!, heard)) {
      if (event !== "live") continue;
      hasSpoken = true;
      onReply(JSON.parse(data));
    }
  } catch (error) {
    if (!silence.signal.aborted && !hasSpoken) throw error;
  } finally {
    clearTimeout(timer);
  }
  return hasSpoken;
}

/** Streams, with pauses between attempts; polls if no stream comes through. */
async function run(
  params: Params,
  signal: AbortSignal,
  onReply: (reply: LiveReply) => void,
  onProblem: (problem: ApiProblem) => void,
): Promise<void> {
  let pauseMs = PAUSE_MS;
  let silent = 0;
  while (!signal.aborted) {
    try {
      if (silent >= SILENT_STREAMS_MAX) {
        onReply(await read<LiveReply>(PATH, params, signal));
        pauseMs = POLL_MS;
      } else {
        const hasSpoken = await follow(params, signal, onReply);
        silent = hasSpoken ? 0 : silent + 1;
        pauseMs = PAUSE_MS;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiProblem) onProblem(error);
      pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX);
    }
    await pause(pauseMs, signal);
  }
}

/** The visitors of this moment, kept up to date while the page is visible. */
export function useLive(): Live {
  const [live, setLive] = useState<Live>({ data: null, problem: null });
  // The range does not matter: it is about now.
  const params = { ...sharedParams(), from: null, to: null, project: project.value };
  useEffect(() => {
    let abort = new AbortController();
    const start = () => {
      abort.abort();
      abort = new AbortController();
      if (document.visibilityState === "hidden") return;
      const { signal } = abort;
      const onReply = (data: LiveReply) => !signal.aborted && setLive({ data, problem: null });
      const onProblem = (problem: ApiProblem) => setLive(({ data }) => ({ data, problem }));
      void run(params, signal, onReply, onProblem);
    };
    setLive({ data: null, problem: null });
    start();
    document.addEventListener("visibilitychange", start);
    addEventListener("online", start);
    return () => {
      document.removeEventListener("visibilitychange", start);
      removeEventListener("online", start);
      abort.abort();
    };
  }, [JSON.stringify(params)]);
  return live;
}
