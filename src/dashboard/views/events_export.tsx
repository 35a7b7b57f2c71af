/// <reference lib="dom" />
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiProblem } from "../api_problem.ts";
import { Dialog, DialogOpener } from "../dialog.tsx";
import { download } from "../download.ts";
import { Segments } from "../field.tsx";
import { filterText } from "../filter_fields.ts";
import { Button } from "../button.tsx";
import { bots, currentDates, filters, type Params, sharedParams } from "../location_state.ts";
import { counted, dateSpan, integer } from "../number_format.ts";
import { useRead } from "../resource.ts";
import { exportedFile, type ExportFormat } from "./events_export_stream.ts";

const FORMATS = [
  { value: "ndjson", label: "NDJSON" },
  { value: "csv", label: "CSV" },
];
const FORMAT_HINTS: Readonly<Record<ExportFormat, string>> = {
  ndjson:
    "One event in JSON on each line, with all that is stored of it. “footfall import” stores " +
    "it again as it was.",
  csv: "One event on each line, for spreadsheets: a table, which cannot be imported again. " +
    "Properties are told as JSON in one column.",
};

interface Totals {
  readonly totals: { readonly events: number | null; readonly imported?: true };
}

interface Progress {
  readonly state: "idle" | "running" | "done";
  readonly events: number;
  readonly problem: string | null;
}

const IDLE: Progress = { state: "idle", events: 0, problem: null };

/** The progress of an export, with its start and stop. */
function useExport(format: ExportFormat, params: Params) {
  const [progress, setProgress] = useState<Progress>(IDLE);
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const stop = () => {
    abort.current.abort();
    setProgress(IDLE);
  };
  const start = async () => {
    abort.current = new AbortController();
    const { signal } = abort.current;
    setProgress({ ...IDLE, state: "running" });
    try {
      const file = await exportedFile(format, params, signal, (events) => {
        if (!signal.aborted) setProgress({ ...IDLE, state: "running", events });
      });
      if (signal.aborted) return;
      download(`events ${params.from} to ${params.to}.${format}`, file);
      setProgress((before) => ({ ...before, state: "done" }));
    } catch (error) {
      if (signal.aborted) return;
      const problem = error instanceof ApiProblem
        ? error.detail
        : "The export broke off. Try again.";
      setProgress({ ...IDLE, problem });
    }
  };
  return { progress, start, stop };
}

function selectionText(): string {
  const { from, to } = currentDates();
  const chosen = filters.value.map(filterText);
  const people = bots.value === "exclude"
    ? "without bots"
    : bots.value === "only"
    ? "only bots"
    : "with bots";
  return [dateSpan(from, to), ...chosen, people].join(" · ");
}

function ProgressLine({ progress, expected }: { progress: Progress; expected: number | null }) {
  const { state, events, problem } = progress;
  const most = expected === null || expected < events ? null : expected;
  const text = problem ??
    (state === "idle"
      ? expected === null ? "" : `About ${counted(expected, "event")}`
      : state === "done"
      ? `${counted(events, "event")} saved in the file`
      : most === null
      ? counted(events, "event")
      : `${integer(events)} of about ${counted(most, "event")}`);
  return (
    <div class="events-progress">
      {state === "running" && (
        <progress aria-label="Export" value={most === null ? undefined : events} max={most ?? 1} />
      )}
      <p role="status" class={problem === null ? "muted" : "field-error"}>{text}</p>
    </div>
  );
}

function ExportDialog({ onClose }: { onClose: () => void }) {
  const [format, setFormat] = useState<ExportFormat>("ndjson");
  const params = sharedParams();
  const { data } = useRead<Totals>("/v1/kpis", params);
  const { progress, start, stop } = useExport(format, params);
  const isRunning = progress.state === "running";
  return (
    <Dialog
      title="Export events"
      onClose={onClose}
      footer={isRunning ? <Button onClick={stop}>Cancel the export</Button> : (
        <>
          <Button onClick={onClose}>Close</Button>
          <Button icon="download" kind="primary" onClick={start}>Export</Button>
        </>
      )}
    >
      <p>
        All events of the current choice: <strong>{selectionText()}</strong>
      </p>
      <div class="events-format">
        <Segments
          label="Format"
          value={format}
          choices={FORMATS}
          onChange={(value) => isRunning || setFormat(value as ExportFormat)}
        />
        <p class="muted">{FORMAT_HINTS[format]}</p>
      </div>
      <ProgressLine
        progress={progress}
        expected={data === null || data.totals.imported ? null : data.totals.events}
      />
    </Dialog>
  );
}

/** Saves the events of the current choice as a file. */
export function ExportButton() {
  return (
    <DialogOpener icon="download" dialog={(onClose) => <ExportDialog onClose={onClose} />}>
      Export
    </DialogOpener>
  );
}
