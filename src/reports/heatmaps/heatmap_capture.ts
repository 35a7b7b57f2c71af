import { z } from "zod";
import type { Project } from "../../auth/projects.ts";
import { imageUrl } from "../../screenshots/queue/capture_image_endpoint.ts";
import {
  CAPTURE_STATUSES,
  type CaptureDevice,
  SITE_URL_MISSING,
} from "../../screenshots/capture_status.ts";
import { type CaptureState, captureStates } from "../../screenshots/queue/capture_store.ts";
import { capturablePath } from "../../screenshots/queue/path_rules.ts";
import { pagePath, planOf } from "../../screenshots/queue/visited_paths.ts";
import type { Sql } from "../../db/sql.ts";
import type { Read } from "../../scans/read.ts";

const instant = z.iso.datetime().nullable();
const sizePx = z.int().nullable();

/** The capture of a page as replies show it. */
export const CaptureShown = z.object({
  status: z.enum(CAPTURE_STATUSES).describe("Of the latest attempt."),
  message: z.string().describe("The status as a sentence for people."),
  capturedAt: instant.describe("When the image was made; null: there is none."),
  nextAttemptAt: instant.describe("Null where no attempt is planned."),
  imageUrl: z.string().nullable().describe("The last good image, by this server."),
  width: sizePx.describe("Of the image, CSS pixels."),
  height: sizePx.describe("Of the image, CSS pixels."),
  captureId: z.string().nullable(),
}).meta({ id: "Capture", description: "The capture that a heatmap is laid over." });

export type Capture = z.output<typeof CaptureShown>;

/** Facts about the server that captures of pages need. */
export interface CaptureReading {
  readonly basePath: string;
  /** Returns when the daily job runs next after a moment; null: never again. */
  readonly nextRunMs: (afterMs: number) => number | null;
}

type StatusShown = Pick<Capture, "status" | "message">;

const NO_PAGE: StatusShown = {
  status: "not_a_page",
  message: "There is no capture: this path leads to no page of the site.",
};
const pending = (message: string): StatusShown => ({ status: "pending", message });
const LEFT_OUT = pending(
  "Paths like this are not photographed by themselves, as they may do something or be " +
    "one person's. A capture is taken when an operator names the path.",
);
const NOT_YET = pending("No capture of this page has been taken yet.");
const SITE_CHANGED = pending(
  "The project's site URL has changed. No capture has been taken there yet.",
);
const MANY_PAGES = pending("A pattern stands for many pages: name one path to see its capture.");

/** Returns the status of a page's capture. `path` null: a pattern stands for many pages. */
function statusOf(
  { siteUrl }: Pick<Project, "siteUrl">,
  path: string | null,
  state: CaptureState | undefined,
): StatusShown {
  if (siteUrl === null) return SITE_URL_MISSING;
  if (path === null) return MANY_PAGES;
  if (state !== undefined) return state.siteUrl === siteUrl ? state : SITE_CHANGED;
  if (pagePath(path) === null) return NO_PAGE;
  return capturablePath(path) === null ? LEFT_OUT : NOT_YET;
}

/**
 * Returns the capture of a page on one device: the latest attempt's status and the last good image.
 * @param path as events have it; null: a pattern stands for many pages
 * @param isVisited whether any event has the path
 * @param isShown whether the caller may see it; false: as of a page without a capture, now and later
 */
export async function captureOf(
  { sql, project, asOfMs }: Read,
  { basePath, nextRunMs }: CaptureReading,
  path: string | null,
  device: CaptureDevice,
  { isVisited, isShown }: { readonly isVisited: boolean; readonly isShown: boolean },
): Promise<Capture> {
  const page = path === null || !isShown ? null : pagePath(path);
  const states = page === null ? [] : await captureStates(sql, project.projectId, [page]);
  const state = states.find((one) => one.device === device);
  const { status, message } = statusOf(project, path, state);
  let nextMs: number | null = null;
  if (page !== null && project.siteUrl !== null) {
    const wanted = { path: page, device, isVisited };
    const { queuedFor, isDaily } = await planOf(sql, project.projectId, wanted);
    nextMs = queuedFor?.getTime() ?? (isDaily ? nextRunMs(asOfMs) : null);
  }
  const image = state?.image ?? null;
  return {
    status,
    message,
    capturedAt: image?.capturedAt.toISOString() ?? null,
    nextAttemptAt: nextMs === null ? null : new Date(nextMs).toISOString(),
    imageUrl: image === null ? null : imageUrl(basePath, project, image.captureId),
    width: image?.widthPx ?? null,
    height: image?.heightPx ?? null,
    captureId: image?.captureId ?? null,
  };
}

/** Looks up the capture statuses of many paths at once; the returned function returns each of them. */
export async function captureStatuses(
  sql: Sql,
  project: Pick<Project, "projectId" | "siteUrl">,
  paths: readonly string[],
): Promise<(path: string, device: CaptureDevice) => Capture["status"]> {
  const pages = paths.map(pagePath).filter((page) => page !== null);
  const states = project.siteUrl === null
    ? []
    : await captureStates(sql, project.projectId, [...new Set(pages)]);
  const byPage = new Map(states.map((state) => [`${state.device} ${state.path}`, state]));
  return (path, device) => {
    const state = byPage.get(`${device} ${pagePath(path)}`);
    return statusOf(project, path, state).status;
  };
}
