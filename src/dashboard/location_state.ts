/// <reference lib="dom" />
import { computed, signal } from "@preact/signals";
import {
  automaticInterval,
  type Bots,
  changed,
  type Changes,
  compareDefault,
  comparedSegment,
  dateIn,
  type Dates,
  datesOf,
  type Filter,
  type FilterValue,
  type Interval,
  intervalIn,
  type RangeChoice,
  readBots,
  readCompare,
  readFilters,
  readInterval,
  readRange,
  readSegment,
  withFilter,
} from "./location_query.ts";
import { isAwaited, session, type SessionProject } from "./session.ts";
import { SHARE_ID } from "./share.ts";

/** Parameters of a read; null and undefined are left out. */
export type Params = Readonly<Record<string, string | number | null | undefined>>;

const search = signal(globalThis.location?.search ?? "");
const query = computed(() => new URLSearchParams(search.value));
const text = (name: string) => computed(() => query.value.get(name));
// Compared as text, so that a change of one choice leaves the others identical objects.
const rangeText = computed(() => JSON.stringify(readRange(query.value)));
const filtersText = text("filters");
const projectText = text("project");

/** Whether there are several projects to choose from. */
export const hasSeveral = computed(() =>
  SHARE_ID === null && (session.value?.projects.length ?? 0) > 1
);
/** The view's id. Default: all projects if the person sees several and the address names none. */
export const view = computed<string>(() =>
  query.value.get("view") ??
    (hasSeveral.value && projectText.value === null ? "sites" : "overview")
);
export const range = computed<RangeChoice>(() => JSON.parse(rangeText.value));
export const compare = computed<string>(() =>
  readCompare(query.value.get("compare"), compareDefault(view.value))
);
/** The slug of the chosen segment; null: everybody. */
export const segment = computed<string | null>(() => readSegment(query.value.get("segment")));
/** Null: the project's own. */
export const timezone = computed<string | null>(() => query.value.get("timezone"));
/** Null: automatic. */
export const interval = computed<Interval | null>(() => readInterval(query.value.get("interval")));
export const filters = computed<readonly Filter[]>(() => readFilters(filtersText.value));
export const bots = computed<Bots>(() => readBots(query.value.get("bots")));

/**
 * The project that the address names, or the first visible one if it names none. Null: the named one is not
 * visible; another project's numbers would look like its own.
 */
export const currentProject = computed<SessionProject | null>(() => {
  const named = SHARE_ID === null ? projectText.value : null;
  return session.value?.projects.find(({ id }) => named === null || id === named) ?? null;
});
/** The current project's id. */
export const project = computed<string | null>(() => currentProject.value?.id ?? null);
/** The time zone that dates and buckets are in. */
export const effectiveTimezone = computed<string | null>(() =>
  timezone.value ?? currentProject.value?.timezone ?? null
);

/** A parameter of the current view; null: the address does not have it. */
export function viewParam(name: string): string | null {
  return query.value.get(name);
}

/** Adds the project to an address of a view, if there are several. */
function whole(changes: Changes): Changes {
  const { view, project: named } = changes;
  if (view === undefined || view === "sites" || named !== undefined) return changes;
  return hasSeveral.value && project.value !== null
    ? { ...changes, project: project.value }
    : changes;
}

/** Parameters of views that name something in one project. */
const OF_PROJECT = ["goal", "funnel", "path", "visit", "person", "actor", "of"];

/** The changes that lead to another project, without choices that name something in the present one. */
export function inProject(id: string, changes: Changes = {}): Changes {
  const isOfSegment = comparedSegment(compare.value) !== null;
  return {
    project: id,
    filters: [],
    segment: null,
    ...isOfSegment && { compare: "none" },
    ...changes,
    params: { ...Object.fromEntries(OF_PROJECT.map((name) => [name, null])), ...changes.params },
  };
}

function address(params: URLSearchParams): string {
  const text = params.toString();
  return location.pathname + (text === "" ? "" : `?${text}`);
}

/** The address after the changes, for links. */
export function hrefFor(changes: Changes): string {
  return address(changed(query.value, whole(changes)));
}

/** Whether back or forward led to the address: the browser then restores its scroll position. */
export let isReturned = false;

/** Changes the address, and with it what is shown. Without `replace`, "back" undoes it. */
export function go(changes: Changes, { replace = false } = {}): void {
  const next = changed(query.peek(), whole(changes));
  if (next.toString() === query.peek().toString()) return;
  if (replace) history.replaceState(null, "", address(next));
  else {
    history.pushState(null, "", address(next));
    isReturned = false;
  }
  search.value = location.search;
}

/** Follows the back and forward buttons, except while the page waits behind the sign-in page. Called once. */
export function followHistory(): void {
  addEventListener("popstate", () => {
    if (isAwaited.peek()) {
      if (location.search !== search.peek()) {
        history.pushState(null, "", location.pathname + search.peek());
      }
      return;
    }
    isReturned = true;
    search.value = location.search;
  });
}

/** Adds a filter for one value of a field; null: for no value. */
export function addFilter(field: string, value: FilterValue | null): void {
  go({ filters: withFilter(filters.peek(), field, value) });
}

/** Removes the filter at an index. */
export function removeFilter(index: number): void {
  go({ filters: filters.peek().filter((_, i) => i !== index) });
}

/** The chosen range as of today: local dates, both inclusive. */
export function currentDates(): Dates {
  return datesOf(range.value, dateIn(effectiveTimezone.value, Date.now()));
}

/** The name of a file with figures of the chosen range. */
export function rangeName(what: string): string {
  const { from, to } = currentDates();
  return `${what} ${from} to ${to}`;
}

/** The chosen interval, or an automatic one if none is chosen or the range is too long for it. */
export function effectiveInterval(): Interval {
  return intervalIn(currentDates(), interval.value) ?? automaticInterval(currentDates());
}

/** The bar as parameters of a read: range, time zone, segment, filters and bots. */
export function sharedParams(): Params {
  return {
    ...currentDates(),
    timezone: timezone.value,
    segment: segment.value,
    filters: filters.value.length === 0 ? null : JSON.stringify(filters.value),
    bots: bots.value === "exclude" ? null : bots.value,
  };
}

/** As `sharedParams`, with the interval: for reads with a series. */
export function seriesParams(): Params {
  return { ...sharedParams(), interval: effectiveInterval() };
}

/** As `seriesParams`, with the comparison: for reads that compare. */
export function comparedParams(): Params {
  return { ...seriesParams(), ...comparison() };
}

/** The chosen comparison as parameters: for reads without a series. */
export function comparison(): Params {
  return { compare: compare.value === "none" ? null : compare.value };
}
