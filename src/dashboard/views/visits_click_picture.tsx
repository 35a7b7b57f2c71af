/// <reference lib="dom" />
import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { fetchBlob, read } from "../api.ts";
import { dateIn } from "../location_query.ts";
import { effectiveTimezone, timezone } from "../location_state.ts";
import { useNear } from "../near_window.ts";
import type { Device, HeatmapReply } from "./heatmaps_replies.ts";

/** The image of a page's capture: an object URL, and its size in CSS pixels. */
interface PagePicture {
  readonly url: string;
  readonly width: number;
  readonly height: number;
}

/** The captures of the pages of one story: each is read once, however many clicks are on it. */
export class PagePictures {
  readonly #pictures = new Map<string, Promise<PagePicture | null>>();
  readonly #urls: string[] = [];
  readonly #abort = new AbortController();

  /** Null: there is none, for whatever reason; the story is complete without it. */
  of(path: string, device: Device, date: string): Promise<PagePicture | null> {
    const key = `${device} ${path}`;
    let picture = this.#pictures.get(key);
    if (picture === undefined) {
      picture = this.#fetch(path, device, date).catch(() => null);
      this.#pictures.set(key, picture);
    }
    return picture;
  }

  close(): void {
    this.#abort.abort();
    for (const url of this.#urls) URL.revokeObjectURL(url);
  }

  async #fetch(path: string, device: Device, date: string): Promise<PagePicture | null> {
    const { signal } = this.#abort;
    const asked = { path, device, from: date, to: date, timezone: timezone.value };
    const { capture } = await read<HeatmapReply>("/v1/heatmaps", asked, signal);
    const { captureId, width, height } = capture;
    if (captureId === null || width === null || height === null) return null;
    const blob = await fetchBlob(`/v1/heatmaps/captures/${captureId}`, {}, signal);
    if (signal.aborted) return null;
    const url = URL.createObjectURL(blob);
    this.#urls.push(url);
    return { url, width, height };
  }
}

export const Pictures = createContext<PagePictures | null>(null);

/** The part of a page that is shown around the click, in screen pixels. */
const SHOWN_PX = { width: 240, height: 132 };
/** The least scale; a narrow page is drawn as wide as the part that is shown. */
const SCALE_MIN = 1 / 3;

const clamped = (value: number, max: number) => Math.max(0, Math.min(value, Math.max(0, max)));

/** Where the click is, and how far the page is moved to show it; null: it is not on the capture. */
export function placeOnPicture(
  { width, height }: Pick<PagePicture, "width" | "height">,
  { x, y }: { readonly x: number; readonly y: number },
) {
  if (x < 0 || x > 1 || y < 0 || y > height) return null;
  const scale = Math.max(SCALE_MIN, SHOWN_PX.width / width);
  const [atX, atY] = [x * width * scale, y * scale];
  const left = clamped(atX - SHOWN_PX.width / 2, width * scale - SHOWN_PX.width);
  const top = clamped(atY - SHOWN_PX.height / 2, height * scale - SHOWN_PX.height);
  return { widthPx: width * scale, left, top, markX: atX - left, markY: atY - top };
}

interface ClickPictureProps {
  readonly path: string;
  readonly device: Device;
  /** When it was clicked. */
  readonly at: string;
  readonly x: number;
  readonly y: number;
}

/** The page around a click, with its place marked; nothing if there is no capture of it. */
export function ClickPicture({ path, device, at, x, y }: ClickPictureProps) {
  const pictures = useContext(Pictures);
  const { element, isNear } = useNear<HTMLSpanElement>();
  const [picture, setPicture] = useState<PagePicture | null>(null);
  useEffect(() => {
    if (!isNear || pictures === null) return;
    let isGone = false;
    const date = dateIn(effectiveTimezone.value, Date.parse(at));
    pictures.of(path, device, date).then((found) => isGone || setPicture(found));
    return () => {
      isGone = true;
    };
  }, [isNear, pictures, path, device, at]);
  const place = picture === null ? null : placeOnPicture(picture, { x, y });
  return (
    <span ref={element} class="story-picture-place">
      {picture !== null && place !== null && (
        <span class="story-picture" aria-hidden="true">
          <img
            src={picture.url}
            alt=""
            width={place.widthPx}
            style={{ left: `${-place.left}px`, top: `${-place.top}px` }}
          />
          <span
            class="story-picture-mark"
            style={{ left: `${place.markX}px`, top: `${place.markY}px` }}
          />
        </span>
      )}
    </span>
  );
}
