import { type Params, sharedParams, viewParam } from "../location_state.ts";
import type { EventMatch } from "../match_editor.tsx";
import { readMatch, textOfMatch } from "./trends_match.ts";

export type StepsBy = "path" | "name" | "both";
export type JourneyScope = "session" | "actor";

/** Where a way begins or ends: anywhere, at a page, or with an event. */
export type JourneyPlace =
  | { readonly kind: "any" }
  | { readonly kind: "page"; readonly path: string }
  | { readonly kind: "event"; readonly match: EventMatch };

export interface Question {
  readonly start: JourneyPlace;
  readonly end: JourneyPlace;
  readonly by: StepsBy;
  readonly steps: number;
  readonly top: number;
  readonly scope: JourneyScope;
  readonly window: string;
}

/** What the API takes. */
export const STEPS_MIN = 2;
export const STEPS_MAX = 10;
export const STEPS_DEFAULT = 5;
export const TOPS: readonly number[] = [3, 5, 8, 12, 20];
export const TOP_DEFAULT = 8;
export const WINDOWS = [
  { value: "1h", label: "within an hour" },
  { value: "1d", label: "within a day" },
  { value: "7d", label: "within a week" },
  { value: "30d", label: "within 30 days" },
] as const;
export const WINDOW_DEFAULT = "1d";

const ANYWHERE: JourneyPlace = { kind: "any" };

/** A place as addresses and the API write it; any other text means anywhere. */
export function readPlace(text: string | null): JourneyPlace {
  if (text === null || text === "") return ANYWHERE;
  try {
    const { path } = JSON.parse(text);
    if (typeof path === "string" && path !== "") return { kind: "page", path };
  } catch { /* an event's name */ }
  const match = readMatch(text);
  const isAny = match.name === null && match.filters.length === 0;
  return isAny ? ANYWHERE : { kind: "event", match };
}

/** The text that `readPlace` takes; null: anywhere. */
export function textOfPlace(place: JourneyPlace): string | null {
  if (place.kind === "any") return null;
  if (place.kind === "page") return place.path === "" ? null : JSON.stringify({ path: place.path });
  return textOfMatch(place.match);
}

function oneOf<T extends string>(text: string | null, allowed: readonly T[], otherwise: T): T {
  return allowed.find((each) => each === text) ?? otherwise;
}

/** What the address asks. */
export function readQuestion(param: (name: string) => string | null = viewParam): Question {
  const steps = Number(param("steps") ?? STEPS_DEFAULT);
  const top = Number(param("top") ?? TOP_DEFAULT);
  return {
    start: readPlace(param("start")),
    end: readPlace(param("end")),
    by: oneOf(param("by"), ["path", "name", "both"], "path"),
    steps: Number.isInteger(steps) && steps >= STEPS_MIN && steps <= STEPS_MAX
      ? steps
      : STEPS_DEFAULT,
    top: TOPS.includes(top) ? top : TOP_DEFAULT,
    scope: oneOf(param("scope"), ["session", "actor"], "session"),
    window: oneOf(param("window"), WINDOWS.map(({ value }) => value), WINDOW_DEFAULT),
  };
}

/** Whether ways are followed back from where they end. */
export function isBackward({ start, end }: Question): boolean {
  return start.kind === "any" && end.kind !== "any";
}

/** The question as parameters of the read. */
export function journeyParams(question: Question): Params {
  const { start, end, by, steps, top, scope, window } = question;
  return {
    ...sharedParams(),
    start: textOfPlace(start),
    end: textOfPlace(end),
    by,
    steps,
    top,
    scope,
    window: scope === "actor" ? window : null,
  };
}
