/** The most projects whose figures are read for one list, even if it shows fewer. */
export const OVERVIEW_PROJECTS_MAX = 1_000;
/** The most projects whose pending events a list waits for; `pending` counts those of all projects. */
export const OVERVIEW_AWAITED_MAX = 20;
/** The most characters of a search. */
export const OVERVIEW_SEARCH_LENGTH_MAX = 200;
/** The most sessions of a part of a day that are looked up; if a project has more, its events are scanned. */
export const OVERVIEW_TAIL_SESSIONS_MAX = 1_000;
/**
 * The events in the segments scanned for parts of a day, after which no other project is scanned for one: ten
 * million take a second if nothing of them is cached.
 */
export const OVERVIEW_SCANNED_EVENTS_MAX = 10_000_000;
