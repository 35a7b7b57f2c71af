/// <reference lib="dom" />
import { signal } from "@preact/signals";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { read } from "./api.ts";
import { ApiProblem } from "./api_problem.ts";
import { SHARED_NAMES } from "./location_query.ts";
import { type Params, project } from "./location_state.ts";
import { clearPending, notePending, PENDING_RELOAD_MS } from "./pending.tsx";
import { assertSameStay, identity, stayNumber } from "./session.ts";

/** How often the wait doubles between two reads while the server is away: from 3 to 48 seconds. */
const OUTAGE_DOUBLINGS_MAX = 4;

/** A read and its state. While it is repeated, `data` is the previous reply. */
export interface Resource<T> {
  readonly state: "loading" | "ready" | "error";
  readonly data: T | null;
  /** Why the read failed; if `state` is `ready`, `data` is an earlier reply. After an outage it is repeated. */
  readonly problem: ApiProblem | null;
  readonly reload: () => void;
}

/** A list that is read page by page. */
export interface PagedResource<Row> extends Resource<PageReply<Row>> {
  /** The rows of all pages so far. */
  readonly rows: readonly Row[];
  /** What a table needs to load further pages. */
  readonly paging: Paging<Row>;
}

interface Paging<Row> {
  /** Loads the next page; undefined: there is none. */
  readonly onMore: (() => void) | undefined;
  readonly isLoadingMore: boolean;
  /** Why the next page failed to load; null: it did not. */
  readonly moreProblem: ApiProblem | null;
  /** Reads all pages for an export; `progress` is called with the rows so far. Throws ApiProblem. */
  readonly allRows: (progress: (rows: number) => void) => Promise<readonly Row[]>;
}

export interface PageReply<Row> {
  readonly rows: readonly Row[];
  readonly nextCursor: string | null;
}

interface Held<T> {
  readonly key: string;
  readonly state: "loading" | "ready" | "error";
  readonly data: T | null;
  readonly problem: ApiProblem | null;
}

/** How many replies are kept, to be shown at once when a view returns, while the read is repeated. */
const REPLIES_HELD_MAX = 60;
const replies = new Map<string, unknown>();
let heldFor: string | null = null;

function hold(key: string, reply: unknown): void {
  replies.delete(key);
  replies.set(key, reply);
  if (replies.size > REPLIES_HELD_MAX) replies.delete(replies.keys().next().value!);
}

/** Incremented when all that is shown is to be read again, as when a person returns after a while. */
const returns = signal(0);
const STALE_MS = 5 * 60_000;
let leftAtMs = Infinity;

/**
 * Repeats all reads when the person returns after a while, or the network does: what failed without it is tried
 * again within 48 s otherwise. Called once.
 */
export function reloadOnReturn(): void {
  addEventListener("online", () => {
    // A hidden tab reads once it is shown.
    if (document.hidden) leftAtMs = -Infinity;
    else reloadAll();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") leftAtMs = Date.now();
    else if (Date.now() - leftAtMs > STALE_MS) returns.value++;
  });
}

/** Repeats all reads of what is shown. */
export function reloadAll(): void {
  returns.value++;
}

/** A kept reply; never one that another person or token has read. */
function held<T>(key: string): T | null {
  if (heldFor !== identity.peek()) replies.clear();
  heldFor = identity.peek();
  return (replies.get(key) as T | undefined) ?? null;
}

function problemFrom(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  return new ApiProblem(0, "page_error", "The page made a mistake. Reload it, then try again.");
}

/** The parameters that are not the bar's. While a read loads, only a reply with the same ones is shown. */
function withoutBar(params: Params): Params {
  return Object.fromEntries(
    Object.entries(params).filter(([name]) => !SHARED_NAMES.includes(name)),
  );
}

const NOTHING = { state: "loading", data: null, problem: null } as const;

/**
 * Reads `path` (null: nothing yet) whenever it, its parameters or the project change, and aborts the read
 * before. Data stays while only the bar's choices change.
 * `isFirst`: sent before all other reads of the same rendering; it must not change.
 * `isFollowed`: the caller follows pending events itself, so the read is not repeated for them.
 */
export function useRead<T>(
  path: string | null,
  params: Params = {},
  { isFirst = false, isFollowed = false } = {},
): Resource<T> {
  const place = JSON.stringify([path, withoutBar(params), project.value]);
  const key = JSON.stringify([path, params, project.value]);
  const [state, setState] = useState<Held<T> & { readonly place: string }>({
    ...NOTHING,
    key: "",
    place: "",
  });
  const [turn, setTurn] = useState(0);
  const outages = useRef(0);
  const lastReturn = useRef(0);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  // Effects of inner components run first, so what the whole view waits for would be sent last.
  const useTimely = isFirst ? useLayoutEffect : useEffect;
  useTimely(() => {
    if (path === null) return;
    // A browser says that the network is back some time before a request comes through.
    if (lastReturn.current !== returns.value) outages.current = 0;
    lastReturn.current = returns.value;
    const abort = new AbortController();
    let again: ReturnType<typeof setInterval> | undefined;
    // A hidden tab reads nothing.
    const readSoon = (waitMs: number) => {
      again = setInterval(() => document.hidden || reload(), waitMs);
    };
    setState((before) => {
      // An outage stays on screen until the server is back, and does not flicker at each try.
      if (before.key === key && before.problem?.isOutage) return before;
      const data = held<T>(key) ?? (before.place === place ? before.data : null);
      return { ...NOTHING, key, place, data };
    });
    read<T>(path, params, abort.signal).then((data) => {
      if (abort.signal.aborted) return;
      hold(key, data);
      outages.current = 0;
      if (!isFollowed && notePending(key, data)) readSoon(PENDING_RELOAD_MS);
      setState({ key, place, state: "ready", data, problem: null });
    }, (error) => {
      if (abort.signal.aborted) return;
      const problem = problemFrom(error);
      // During an outage the previous reply stays, and with it what is typed there.
      const data = problem.isOutage ? held<T>(key) : null;
      if (problem.isOutage) {
        readSoon(PENDING_RELOAD_MS * 2 ** Math.min(outages.current++, OUTAGE_DOUBLINGS_MAX));
      }
      setState({ key, place, state: data === null ? "error" : "ready", data, problem });
    });
    return () => {
      abort.abort();
      clearInterval(again);
    };
  }, [key, turn, returns.value]);
  useEffect(() => () => clearPending(key), [key]);
  if (path === null) return { ...NOTHING, reload };
  // Before the effect runs, the state is still that of the previous read.
  const { data } = state;
  if (state.key === key) return { state: state.state, data, problem: state.problem, reload };
  return { ...NOTHING, data: held<T>(key) ?? (state.place === place ? data : null), reload };
}

/**
 * A read that lists rows, whose further pages load on demand. A change of the path, the parameters or the
 * project starts over.
 */
export function usePages<Row, Reply extends PageReply<Row> = PageReply<Row>>(
  path: string | null,
  params: Params = {},
): PagedResource<Row> & { readonly data: Reply | null } {
  const first = useRead<Reply>(path, params);
  const [later, setLater] = useState<{ of: Reply | null; pages: readonly PageReply<Row>[] }>({
    of: null,
    pages: [],
  });
  const [isLoadingMore, setLoadingMore] = useState(false);
  const [moreProblem, setMoreProblem] = useState<ApiProblem | null>(null);
  const current = useRef<Reply | null>(null);
  current.current = first.data;
  const pages = later.of === first.data ? later.pages : [];
  const cursor = (pages.at(-1) ?? first.data)?.nextCursor ?? null;
  const more = async () => {
    if (path === null || cursor === null || isLoadingMore) return;
    const of = first.data;
    setLoadingMore(true);
    setMoreProblem(null);
    try {
      const page = await read<PageReply<Row>>(path, { ...params, cursor });
      if (current.current === of) setLater({ of, pages: [...pages, page] });
    } catch (error) {
      setMoreProblem(problemFrom(error));
    }
    setLoadingMore(false);
  };
  const allRows = async (progress: (rows: number) => void) => {
    const stay = stayNumber.peek();
    const rows: Row[] = [];
    let next: string | null = null;
    do {
      const page: PageReply<Row> = await read(path!, { ...params, limit: 1000, cursor: next });
      assertSameStay(stay);
      rows.push(...page.rows);
      next = page.nextCursor;
      progress(rows.length);
    } while (next !== null);
    return rows;
  };
  const rows = [...first.data?.rows ?? [], ...pages.flatMap((page) => page.rows)];
  const onMore = cursor === null ? undefined : more;
  return { ...first, rows, paging: { onMore, isLoadingMore, moreProblem, allRows } };
}
