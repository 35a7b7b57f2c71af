/// <reference lib="dom" />
import { Button } from "../button.tsx";
import { Behind } from "../behind.tsx";
import { hasValue } from "../location_query.ts";
import { type Column, DataTable, numberColumn } from "../data_table.tsx";
import { TextField } from "../field.tsx";
import { OTHER, OTHER_TEXT, valueLabel } from "../filter_fields.ts";
import { Form } from "../form.tsx";
import { go, rangeName } from "../location_state.ts";
import { integer } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import { meantPath, readablePath } from "../../readable_path.ts";
import type { PagedResource } from "../resource.ts";
import { useTypedText } from "../typed_text.ts";
import { DEVICE_LABELS, DEVICES, type PathRow } from "./heatmaps_replies.ts";

const STATUS_WORDS: Readonly<Record<string, string>> = {
  captured: "captured",
  pending: "no capture yet",
  site_url_missing: "the project has no site URL",
  site_url_mismatch: "the site URL is not the tracked site",
  not_publicly_reachable: "not publicly reachable",
  page_not_found: "page not found",
  not_a_page: "not a page",
  redirect_loop: "redirects in a circle",
  blocked_address: "address not allowed",
  no_browser: "the server has no browser",
  temporary_failure: "failed for now",
  render_failed: "could not be drawn",
};
/** Statuses without a capture that are not failures. */
const QUIET = ["pending", "site_url_missing"];

function statusText({ devices }: PathRow): string {
  return DEVICES.map((device) => {
    const { status } = devices[device];
    return `${DEVICE_LABELS[device]}: ${STATUS_WORDS[status] ?? status}`;
  }).join(", ");
}

/** A letter for each device: filled if there is a capture, struck through if it failed. */
function Statuses({ row }: { row: PathRow }) {
  const text = statusText(row);
  return (
    <span class="heatmaps-statuses" title={text}>
      {DEVICES.map((device) => {
        const { status } = row.devices[device];
        const kind = status === "captured" ? "good" : QUIET.includes(status) ? "none" : "bad";
        return (
          <span key={device} class={`heatmaps-status heatmaps-status-${kind}`} aria-hidden="true">
            {DEVICE_LABELS[device][0]}
          </span>
        );
      })}
      <span class="visually-hidden">{text}</span>
    </span>
  );
}

/** The visitors of a page, or the clicks on it, linked to the people. */
function PathCount({ row: { path, clicks, visitors }, isClicks }: {
  readonly row: PathRow;
  readonly isClicks: boolean;
}) {
  const names = isClicks ? ["click"] : ["page_view", "click"];
  return (
    <Behind
      view="people"
      filters={[{ field: "name", op: "is", values: names }, hasValue("path", path)]}
      of={`${isClicks ? "People who clicked on" : "Visitors of"} ${valueLabel("path", path)}`}
      isLinked={path !== OTHER && (isClicks ? clicks : visitors) > 0}
      isTheirs={!isClicks}
    >
      {integer(isClicks ? clicks : visitors)}
    </Behind>
  );
}

function columns(current: string | null): Column<PathRow>[] {
  return [
    {
      title: "Page",
      value: ({ path }) => path,
      show: ({ path }) => (
        <span
          class={path === current ? "heatmaps-path heatmaps-path-current" : "heatmaps-path"}
          aria-current={path === current ? "true" : undefined}
        >
          {valueLabel("path", path)}
        </span>
      ),
    },
    numberColumn("Clicks", ({ clicks }) => clicks, {
      definition: "All clicks on the page in the range, on every device.",
      show: (row) => <PathCount row={row} isClicks />,
    }),
    numberColumn("Visitors", ({ visitors }) => visitors, {
      definition: "Different people who viewed or clicked the page in the range.",
      show: (row) => <PathCount row={row} isClicks={false} />,
    }),
    {
      title: "Captures",
      definition:
        "Desktop, tablet and mobile: filled if the latest capture is good, outlined if there is none, struck through if it failed.",
      value: statusText,
      show: (row) => <Statuses row={row} />,
    },
  ];
}

interface PathFormProps {
  readonly page: string | null;
  readonly known: readonly string[];
}

/** Chooses any page, or with `*` many at once. */
function PathForm({ page, known }: PathFormProps) {
  const [draft, setDraft] = useTypedText(readablePath(page ?? ""));
  const asked = meantPath(draft.trim(), [page ?? "", ...known]);
  return (
    <Form
      class="heatmaps-form"
      onSubmit={() => asked !== "" && go({ params: { path: asked } })}
    >
      <TextField
        label="Page, or a pattern such as /product/*"
        isLabelHidden
        value={draft}
        onChange={setDraft}
        placeholder="/pricing or /product/*"
        suggestions={known.map(readablePath)}
        maxLength={2048}
      />
      <Button type="submit">Show</Button>
    </Form>
  );
}

interface PathsProps {
  readonly paths: PagedResource<PathRow>;
  readonly page: string | null;
}

/** The pages that have heatmaps, most visited first. */
export function PathsPanel({ paths, page }: PathsProps) {
  const { rows, paging } = paths;
  return (
    <Panel
      title="Pages"
      definition="Pages that were viewed or clicked in the range, most visitors first. Choose one to see its heatmap."
      state={paths}
      class="heatmaps-paths panel-dense"
      empty={paths.data !== null && rows.length === 0 && (
        <EmptyNote title="No pages in this range" icon="heatmaps">
          Choose a longer range, or take a filter away. Clicks are recorded by the script tag of the
          settings.
        </EmptyNote>
      )}
    >
      <PathForm page={page} known={rows.map(({ path }) => path).filter((path) => path !== OTHER)} />
      <DataTable
        caption="Pages with clicks"
        columns={columns(page)}
        rows={rows}
        rowKey={({ path }) => path}
        onRow={({ path }) => path !== OTHER && go({ params: { path } })}
        rowAction={({ path }) =>
          path === OTHER ? OTHER_TEXT : `Show the heatmap of ${readablePath(path)}`}
        csvName={rangeName("heatmap pages")}
        {...paging}
      />
    </Panel>
  );
}
