/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { type Column, DataTable } from "../data_table.tsx";
import { Button } from "../button.tsx";
import { dateTime } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import { useRead } from "../resource.ts";
import { projectNames } from "./settings_access_fields.tsx";
import { rowActions } from "./settings_row_actions.tsx";
import {
  type ListedToken,
  TokenDialogs,
  type TokensReply,
  type TokenTask,
} from "./settings_token_dialogs.tsx";

const DEFINITION =
  "For programs that read figures or change settings. Each is shown once, as it is made, and ends within a second of being revoked.";

/** Why a token does not work. */
const STATUSES: Readonly<Record<Exclude<ListedToken["status"], "active">, string>> = {
  expired: "Has expired",
  revoked: "Revoked, with all others of its time",
  exceeding: "Refused: it may do more than who made it",
};

const COLUMNS: readonly Column<ListedToken>[] = [
  {
    title: "Token",
    value: ({ name }) => name,
    show: ({ name, createdBy, createdAt }) => (
      <>
        {name}
        <span class="settings-hint">{createdBy}, {dateTime(createdAt)}</span>
      </>
    ),
  },
  {
    title: "Scopes",
    value: ({ scope }) => scope,
    show: ({ scope }) => <span class="cell-wrap">{scope.replaceAll(" ", ", ")}</span>,
    isMinor: true,
  },
  {
    title: "Projects",
    value: ({ projects }) => projectNames(projects),
    show: ({ projects }) => <span class="cell-wrap">{projectNames(projects)}</span>,
    isMinor: true,
  },
  {
    title: "Last used",
    value: ({ lastUsedAt }) => lastUsedAt,
    show: ({ lastUsedAt }) => lastUsedAt === null ? "Never" : dateTime(lastUsedAt),
  },
  {
    title: "Expires",
    value: ({ expiresAt }) => expiresAt,
    show: ({ status, expiresAt }) =>
      status === "active"
        ? dateTime(expiresAt)
        : <span class="cell-wrap muted">{STATUSES[status]}</span>,
    isMinor: true,
  },
];

function actions(onTask: (task: TokenTask) => void): Column<ListedToken> {
  return rowActions(({ name }) => name, [
    { icon: "trash", text: "Revoke", onClick: (of) => onTask({ task: "revoke", of }) },
  ]);
}

/** The API tokens, and the dialogs that make and revoke them. */
export function TokensSection() {
  const [task, setTask] = useState<TokenTask | null>(null);
  const tokens = useRead<TokensReply>("/v1/tokens");
  return (
    <>
      <Panel
        title="API tokens"
        definition={DEFINITION}
        state={tokens}
        skeletonRows={3}
        actions={
          <Button icon="plus" onClick={() => setTask({ task: "create" })}>Create a token</Button>
        }
      >
        <DataTable
          caption="API tokens"
          columns={[...COLUMNS, actions(setTask)]}
          rows={tokens.data?.tokens ?? []}
          rowKey={({ id }) => id}
          empty={
            <EmptyNote title="There is no API token" icon="key">
              Make one for a program that asks for figures, such as a weekly report. To send events,
              a key of the project is what you need.
            </EmptyNote>
          }
        />
      </Panel>
      <TokenDialogs task={task} onTask={setTask} onChanged={tokens.reload} />
    </>
  );
}
