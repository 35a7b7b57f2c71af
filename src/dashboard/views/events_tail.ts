/// <reference lib="dom" />
import { useEffect, useRef, useState } from "preact/hooks";
import { read } from "../api.ts";
import { ApiProblem } from "../api_problem.ts";
import { type Params, project } from "../location_state.ts";
import { type Resource, useRead } from "../resource.ts";
import type { ExportedEvent } from "../../event_file/exported_event.ts";

const PATH = "/v1/events";
const PAGE_ROWS = 50;
const POLL_MS = 2_000;
const POLL_MS_MAX = 30_000;
/** If one poll may have more events than these, the list is reloaded instead of extended. */
const POLL_ROWS = 200;
/** The most new events kept, so that a page left open all day stays bounded. */
const NEWER_ROWS_MAX = 500;

export interface EventsReply {
  readonly events: readonly ExportedEvent[];
  readonly nextCursor: string | null;
  readonly tailCursor: string;
}

/** Events that arrived since the first page was read, and the pages below it. */
interface Later {
  /** The first page that all this belongs to. */
  readonly of: EventsReply | null;
  /** Newest first. */
  readonly newer: readonly ExportedEvent[];
  /** New events that are not shown yet. */
  readonly waiting: readonly ExportedEvent[];
  /** More arrived than are kept. */
  readonly isOverfull: boolean;
  readonly older: readonly EventsReply[];
}

export interface Tail {
  readonly first: Resource<EventsReply>;
  readonly events: readonly ExportedEvent[];
  /** How many events wait to be shown. */
  readonly waiting: number;
  readonly isOverfull: boolean;
  /** Shows the waiting events. */
  readonly show: () => void;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  /** Why older events could not be loaded; null: no failure. */
  readonly moreProblem: ApiProblem | null;
  readonly more: () => void;
  /** Why the latest poll failed; null: it did not. */
  readonly problem: ApiProblem | null;
}

function distinct(events: readonly ExportedEvent[]): readonly ExportedEvent[] {
  const seen = new Set<string>();
  return events.filter(({ eventId }) => !seen.has(eventId) && seen.add(eventId));
}

function nothingYet(of: EventsReply | null): Later {
  return { of, newer: [], waiting: [], isOverfull: false, older: [] };
}

function withWaiting(later: Later): Later {
  return { ...later, newer: [...later.waiting, ...later.newer], waiting: [] };
}

/** Polls for events stored after the cursor `start`, while the page is visible, until the cursor expires. */
async function follow(
  params: Params,
  start: string,
  signal: AbortSignal,
  { onReply, onExpired, onProblem }: {
    onReply: (reply: EventsReply) => void;
    onExpired: () => void;
    onProblem: (problem: ApiProblem) => void;
  },
): Promise<void> {
  let after = start;
  let pauseMs = POLL_MS;
  while (!signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if (signal.aborted) return;
    if (document.visibilityState === "hidden") continue;
    try {
      const reply = await read<EventsReply>(PATH, { ...params, after, limit: POLL_ROWS }, signal);
      after = reply.tailCursor;
      pauseMs = POLL_MS;
      onReply(reply);
    } catch (error) {
      if (signal.aborted) return;
      pauseMs = Math.min(2 * pauseMs, POLL_MS_MAX);
      if (error instanceof ApiProblem && error.code === "cursor_expired") return onExpired();
      if (error instanceof ApiProblem) onProblem(error);
    }
  }
}

/**
 * Events, newest first. New ones are put on top, or wait while `isHeld`; without `isLive` nothing is polled.
 */
export function useTail(
  params: Params,
  { isHeld, isLive }: { isHeld: boolean; isLive: boolean },
): Tail {
  const first = useRead<EventsReply>(PATH, { ...params, limit: PAGE_ROWS }, {
    isFollowed: true,
  });
  const [stored, setLater] = useState<Later>(nothingYet(null));
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [isLoadingMore, setLoadingMore] = useState(false);
  const [moreProblem, setMoreProblem] = useState<ApiProblem | null>(null);
  const held = useRef(isHeld);
  held.current = isHeld;
  const { data } = first;
  const later = stored.of === data ? stored : nothingYet(data);
  /** Edits what came later; if the first page has changed meanwhile, that of the new one. */
  const change = (edit: (later: Later) => Later) =>
    setLater((before) => edit(before.of === data ? before : nothingYet(data)));
  useEffect(() => {
    if (data === null || first.state !== "ready" || !isLive) return;
    const abort = new AbortController();
    void follow(params, data.tailCursor, abort.signal, {
      onReply({ events, nextCursor }) {
        setProblem(null);
        if (events.length === 0) return;
        change((before) => {
          const waiting = [...events, ...before.waiting];
          const isOverfull = before.isOverfull || nextCursor !== null ||
            waiting.length + before.newer.length > NEWER_ROWS_MAX;
          const next = { ...before, isOverfull, waiting: waiting.slice(0, NEWER_ROWS_MAX) };
          return held.current || isOverfull ? next : withWaiting(next);
        });
      },
      onExpired: first.reload,
      onProblem: setProblem,
    });
    return () => abort.abort();
  }, [data, first.state, isLive, JSON.stringify(params), project.value]);
  const show = () => later.isOverfull ? first.reload() : change(withWaiting);
  const isReleased = !isHeld && later.waiting.length > 0;
  useEffect(() => {
    if (isReleased) show();
  }, [isReleased, later.isOverfull]);
  const cursor = (later.older.at(-1) ?? data)?.nextCursor ?? null;
  const more = async () => {
    if (cursor === null || isLoadingMore) return;
    setLoadingMore(true);
    setMoreProblem(null);
    try {
      const page = await read<EventsReply>(PATH, { ...params, limit: PAGE_ROWS, cursor });
      change((before) => ({ ...before, older: [...before.older, page] }));
    } catch (error) {
      if (error instanceof ApiProblem) setMoreProblem(error);
    }
    setLoadingMore(false);
  };
  const pages = [...data === null ? [] : [data], ...later.older];
  return {
    first,
    events: distinct([...later.newer, ...pages.flatMap(({ events }) => events)]),
    waiting: later.waiting.length,
    isOverfull: later.isOverfull,
    show,
    hasMore: cursor !== null,
    isLoadingMore,
    moreProblem,
    more,
    problem,
  };
}
