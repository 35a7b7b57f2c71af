import { z } from "zod";
import type { Project } from "../auth/projects.ts";

/** Classes of window widths that a page is looked at in, widest first. */
export const HEATMAP_DEVICES = ["desktop", "tablet", "mobile"] as const;
export type HeatmapDevice = typeof HEATMAP_DEVICES[number];

/** What may have become of the picture of a page. */
export const CAPTURE_STATUSES = [
  "captured",
  "site_url_missing",
  "site_url_mismatch",
  "not_publicly_reachable",
  "page_not_found",
  "not_a_page",
  "redirect_loop",
  "blocked_address",
  "no_browser",
  "temporary_failure",
  "render_failed",
  "pending",
] as const;

const instant = z.iso.datetime().nullable();
const sizePx = z.int().nullable();

/** The picture of a page as replies show it. */
export const CaptureShown = z.object({
  status: z.enum(CAPTURE_STATUSES).meta({ description: "Of the latest attempt." }),
  message: z.string().meta({ description: "The status as a sentence for people." }),
  capturedAt: instant.meta({ description: "When the image was made; null: there is none." }),
  nextAttemptAt: instant.meta({ description: "Null where no attempt is planned." }),
  imageUrl: z.string().nullable().meta({ description: "The last good image, by this server." }),
  width: sizePx.meta({ description: "Of the image, CSS pixels." }),
  height: sizePx.meta({ description: "Of the image, CSS pixels." }),
  captureId: z.string().nullable(),
}).meta({ id: "Capture", description: "The picture that a heatmap is laid over." });

export type Capture = z.output<typeof CaptureShown>;

/** The picture of a page in one device's width. `path` is null where a pattern stands for many pages. */
export function captureOf(
  { siteUrl }: Pick<Project, "siteUrl">,
  path: string | null,
  _device: HeatmapDevice,
): Capture {
  const nothing = {
    capturedAt: null,
    nextAttemptAt: null,
    imageUrl: null,
    width: null,
    height: null,
    captureId: null,
  };
  if (siteUrl === null) {
    const message =
      "There is no picture: the project has no site URL. Set it, then pages can be found.";
    return { status: "site_url_missing", message, ...nothing };
  }
  const message = path === null
    ? "A pattern stands for many pages: name one path to see its picture."
    : "No picture of this page has been taken yet.";
  return { status: "pending", message, ...nothing };
}
