/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { type Column, DataTable } from "../data_table.tsx";
import { Button } from "../button.tsx";
import { currentProject } from "../location_state.ts";
import { dateTime } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import { useRead } from "../resource.ts";
import { rowActions } from "./settings_row_actions.tsx";
import { ShareDialogs, type ShareTask } from "./settings_share_dialogs.tsx";
import type { Share, SharesReply } from "./settings_share_form.ts";
import { SHARE_VIEW_CHOICES } from "./settings_share_views.ts";

const DEFINITION =
  "A link that shows some views to whoever has it: sums alone, nothing that names a person. It can be embedded in a page of yours, and ends within a second of being revoked.";

function viewNames({ views }: Share): string {
  return SHARE_VIEW_CHOICES.filter(({ value }) => views.includes(value))
    .map(({ label }) => label).join(", ");
}

const COLUMNS: readonly Column<Share>[] = [
  {
    title: "Shared as",
    value: ({ title }) => title,
    show: ({ title, createdAt }) => (
      <>
        {title}
        <span class="settings-hint">since {dateTime(createdAt)}</span>
      </>
    ),
  },
  {
    title: "Shows",
    value: viewNames,
    show: (share) => <span class="cell-wrap">{viewNames(share)}</span>,
    isMinor: true,
  },
  {
    title: "Password",
    value: ({ hasPassword }) => hasPassword ? "Yes" : "No",
    isMinor: true,
  },
  {
    title: "Ends",
    value: ({ expiresAt }) => expiresAt,
    show: ({ expiresAt, status }) =>
      status === "expired" ? "Has ended" : expiresAt === null ? "Never" : dateTime(expiresAt),
  },
];

function actions(onTask: (task: ShareTask) => void): Column<Share> {
  return rowActions(({ title }) => title, [
    { icon: "link", text: "Link", onClick: (of) => onTask({ task: "show", of }) },
    { icon: "edit", text: "Change", onClick: (of) => onTask({ task: "change", of }) },
    { icon: "trash", text: "Revoke", onClick: (of) => onTask({ task: "revoke", of }) },
  ]);
}

function Shares({ projectId }: { projectId: string }) {
  const [task, setTask] = useState<ShareTask | null>(null);
  const shares = useRead<SharesReply>(`/v1/projects/${projectId}/shares`);
  return (
    <>
      <Panel
        title="Shared dashboards"
        definition={DEFINITION}
        state={shares}
        skeletonRows={3}
        actions={
          <Button icon="plus" onClick={() => setTask({ task: "create" })}>Share a dashboard</Button>
        }
      >
        <DataTable
          caption="Shared dashboards"
          columns={[...COLUMNS, actions(setTask)]}
          rows={shares.data?.shares ?? []}
          rowKey={({ id }) => id}
          empty={
            <EmptyNote title="Nothing is shared" icon="link">
              Show some views to people without an account, by a link or in a page of yours.
            </EmptyNote>
          }
        />
      </Panel>
      <ShareDialogs
        projectId={projectId}
        task={task}
        onTask={setTask}
        onChanged={shares.reload}
      />
    </>
  );
}

/** The shares of the project, for people without an account. */
export function SharesSection() {
  const current = currentProject.value;
  return current === null
    ? <EmptyNote title="There is no project to share" />
    : <Shares key={current.id} projectId={current.id} />;
}
