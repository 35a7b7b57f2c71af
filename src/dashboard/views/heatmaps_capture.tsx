/// <reference lib="dom" />
import { useEffect, useState } from "preact/hooks";
import { fetchBlob } from "../api.ts";
import { ApiProblem } from "../api_problem.ts";
import { Icon } from "../icons.tsx";
import { Button } from "../button.tsx";
import { effectiveTimezone } from "../location_state.ts";
import { dateTime, integer } from "../number_format.ts";
import { readablePath } from "../../readable_path.ts";
import { useKeptFocus } from "../request_state.tsx";
import { hasScope } from "../session.ts";
import { ViewLink } from "../view_link.tsx";
import type { JobRun } from "./heatmaps_job.ts";
import { type Capture, type Device, DEVICE_LABELS, DEVICES } from "./heatmaps_replies.ts";

/** The image of a capture. Reading it takes a token, so an element shows it by an object URL. */
export interface Picture {
  /** Null: it is being fetched, or there is none. */
  readonly url: string | null;
  readonly isLoading: boolean;
  readonly problem: ApiProblem | null;
}

const NONE: Picture = { url: null, isLoading: false, problem: null };

/** Fetches the image of a capture; null: there is none. */
export function usePicture(captureId: string | null): Picture {
  const [picture, setPicture] = useState<Picture & { of: string | null }>({ ...NONE, of: null });
  useEffect(() => {
    if (captureId === null) return;
    const abort = new AbortController();
    let url: string | null = null;
    fetchBlob(`/v1/heatmaps/captures/${captureId}`, {}, abort.signal).then((blob) => {
      url = URL.createObjectURL(blob);
      setPicture({ ...NONE, url, of: captureId });
    }, (problem) => {
      if (abort.signal.aborted || !(problem instanceof ApiProblem)) return;
      setPicture({ ...NONE, problem, of: captureId });
    });
    return () => {
      abort.abort();
      if (url !== null) URL.revokeObjectURL(url);
    };
  }, [captureId]);
  if (captureId === null) return NONE;
  return picture.of === captureId ? picture : { ...NONE, isLoading: true };
}

function when(instant: string): string {
  return dateTime(instant, effectiveTimezone.value);
}

function nextAttempt({ nextAttemptAt }: Capture): string {
  return nextAttemptAt === null ? "" : ` The next attempt is planned for ${when(nextAttemptAt)}.`;
}

/** Leads to where the site's address is set. */
function SettingsLink() {
  return (
    <ViewLink class="button" to={{ view: "settings" }}>
      <Icon name="settings" /> Open the settings
    </ViewLink>
  );
}

/** Why there is no capture, in its place. */
export function MissingPicture({ capture, picture }: { capture: Capture; picture: Picture }) {
  const isLost = picture.problem !== null;
  return (
    <div class="heatmaps-message">
      <div class="heatmaps-message-card" role="status">
        <p class="heatmaps-message-title">
          {isLost ? "The capture could not be loaded" : "No capture of the page"}
        </p>
        <p>
          {isLost ? picture.problem!.detail : capture.message}
          {nextAttempt(capture)}
        </p>
        {capture.status.startsWith("site_url") && <SettingsLink />}
      </div>
    </div>
  );
}

/** When the capture was taken, and how a later attempt failed. */
export function PictureLine({ capture }: { capture: Capture }) {
  const { capturedAt, nextAttemptAt, status, message } = capture;
  if (capturedAt === null) return null;
  if (status === "captured") {
    return (
      <p class="muted">
        Captured {when(capturedAt)}.
        {nextAttemptAt === null ? "" : ` The next one is planned for ${when(nextAttemptAt)}.`}
      </p>
    );
  }
  return (
    <div class="banner" role="status">
      <p>
        <strong>There is no newer capture.</strong> {message}
      </p>
      <p>
        Shown is the last good one, taken {when(capturedAt)}.{nextAttempt(capture)}
      </p>
    </div>
  );
}

function progressText({ job, problem, isRunning }: JobRun): string {
  if (problem !== null) return problem.detail;
  if (job === null) return isRunning ? "Asking for a capture…" : "";
  const done = job.captures.filter(({ status }) => status !== "pending").length;
  const all = job.captures.length;
  if (job.status !== "done") {
    return all === 1
      ? "Taking the capture…"
      : `Taking captures: ${integer(done)} of ${integer(all)} done…`;
  }
  const failed = job.captures.filter(({ status }) => status !== "captured");
  if (failed.length === 0) {
    return all === 1 ? "The new capture is here." : "The new captures are here.";
  }
  return failed.map(({ device, message }) => `${DEVICE_LABELS[device]}: ${message}`).join(" ");
}

interface RecaptureProps {
  readonly run: JobRun;
  readonly path: string;
  readonly device: Device;
}

/** Takes a capture now; only with the scope `jobs`. */
export function Recapture({ run, path, device }: RecaptureProps) {
  useKeptFocus(run.isRunning);
  if (!hasScope("jobs")) return null;
  const { job, isRunning } = run;
  const isOwn = run.path === path;
  const shown = readablePath(run.path ?? "");
  const done = job?.captures.filter(({ status }) => status !== "pending").length ?? 0;
  return (
    <div class="heatmaps-recapture">
      <Button icon="camera" disabled={isRunning} onClick={() => run.start(path, [device])}>
        Take a new capture
      </Button>
      <Button kind="quiet" disabled={isRunning} onClick={() => run.start(path, DEVICES)}>
        On all devices
      </Button>
      {isOwn && isRunning && (
        <progress
          class="heatmaps-progress"
          aria-label="Captures taken"
          value={job === null || job.captures.length === 1 ? undefined : done}
          max={job?.captures.length ?? 1}
        />
      )}
      <span role="status" class="heatmaps-progress-text muted">
        {isOwn ? progressText(run) : isRunning ? `Captures of ${shown} are being taken…` : ""}
      </span>
    </div>
  );
}
