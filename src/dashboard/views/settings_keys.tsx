/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { CsvButton } from "../csv_button.tsx";
import { type Column, csvOf, DataTable } from "../data_table.tsx";
import { Button } from "../button.tsx";
import { effectiveTimezone } from "../location_state.ts";
import { dateTime } from "../number_format.ts";
import { EmptyNote, Panel } from "../panel.tsx";
import type { Resource } from "../resource.ts";
import { CreateKey, NewKey, RevokeKey, RotateKey } from "./settings_key_dialogs.tsx";
import { type CreatedKey, type Key, keyName, type KeysReply } from "./settings_replies.ts";
import { rowActions } from "./settings_row_actions.tsx";

const DEFINITION =
  "Sending events takes a key. Public keys are for pages and can do nothing else; secret keys are for servers.";
const STATUSES: Readonly<Record<Key["status"], string>> = {
  active: "Active",
  expired: "Expired",
  revoked: "Revoked",
};

/** What a dialog is open for. */
export type KeyTask =
  | { readonly task: "create"; readonly kind: Key["kind"] }
  | { readonly task: "rotate" | "revoke"; readonly of: Key }
  | { readonly task: "show"; readonly created: CreatedKey };

function when(instant: string | null, never: string): string {
  return instant === null ? never : dateTime(instant, effectiveTimezone.value);
}

const COLUMNS: readonly Column<Key>[] = [
  {
    title: "Key",
    value: keyName,
    show: ({ label, hint, key }) => (
      <>
        {label ?? "Unnamed"}
        <span class="settings-hint">{key ?? `…${hint}`}</span>
      </>
    ),
  },
  { title: "Kind", value: ({ kind }) => kind === "public" ? "Public" : "Secret" },
  {
    title: "Status",
    value: ({ status }) => status,
    show: ({ status }) => (
      <span class={status === "active" ? "settings-active" : "muted"}>{STATUSES[status]}</span>
    ),
  },
  {
    title: "Created",
    value: ({ createdAt }) => createdAt,
    show: ({ createdAt }) => when(createdAt, ""),
    isMinor: true,
  },
  {
    title: "Expires",
    value: ({ expiresAt }) => expiresAt,
    show: ({ expiresAt }) => when(expiresAt, "Never"),
    isMinor: true,
  },
];

function actions(onTask: (task: KeyTask) => void): Column<Key> {
  const isOffered = ({ status }: Key) => status === "active";
  return rowActions(keyName, [
    {
      icon: "refresh",
      text: "Rotate",
      isOffered,
      onClick: (of) => onTask({ task: "rotate", of }),
    },
    { icon: "trash", text: "Revoke", isOffered, onClick: (of) => onTask({ task: "revoke", of }) },
  ]);
}

interface DialogsProps {
  readonly projectId: string;
  readonly task: KeyTask | null;
  readonly onTask: (task: KeyTask | null) => void;
  /** Called with a key that was made; null: one was revoked. */
  readonly onChanged: (created: CreatedKey | null) => void;
}

/** The dialogs in which keys are made, rotated and revoked. */
export function KeyDialogs({ projectId, task, onTask, onChanged }: DialogsProps) {
  const onClose = () => onTask(null);
  const made = (created: CreatedKey) => {
    onChanged(created);
    onTask({ task: "show", created });
  };
  switch (task?.task) {
    case "create":
      return <CreateKey {...{ projectId, onClose }} kind={task.kind} onDone={made} />;
    case "rotate":
      return <RotateKey {...{ projectId, onClose }} of={task.of} onDone={made} />;
    case "revoke":
      return <RevokeKey {...{ projectId, onClose }} of={task.of} onDone={() => onChanged(null)} />;
    case "show":
      return <NewKey created={task.created} onClose={onClose} />;
    default:
      return null;
  }
}

interface KeysPanelProps {
  readonly keys: Resource<KeysReply>;
  readonly onTask: (task: KeyTask) => void;
}

/** The keys of the project: those that work first. */
export function KeysPanel({ keys, onTask }: KeysPanelProps) {
  const [isAll, setAll] = useState(false);
  const all = keys.data?.keys ?? [];
  const active = all.filter(({ status }) => status === "active");
  const past = all.filter(({ status }) => status !== "active");
  const rows = isAll ? [...active, ...past] : active;
  return (
    <Panel
      class="settings-keys"
      title="Keys"
      definition={DEFINITION}
      state={keys}
      skeletonRows={3}
      actions={
        <Button icon="plus" onClick={() => onTask({ task: "create", kind: "public" })}>
          Create a key
        </Button>
      }
    >
      <DataTable
        caption="Keys of the project"
        columns={[...COLUMNS, actions(onTask)]}
        rows={rows}
        rowKey={({ id }) => id}
        empty={
          <EmptyNote title="No key works at the moment">
            Create a public key for your pages, or a secret one for a server.
          </EmptyNote>
        }
      />
      <div class="table-foot">
        {past.length > 0 && (
          <Button
            kind="quiet"
            aria-expanded={isAll}
            onClick={() => setAll(!isAll)}
          >
            {isAll ? "Hide" : "Show"} revoked and expired ones ({past.length})
          </Button>
        )}
        {all.length > 0 && (
          <CsvButton
            name="keys"
            table="Keys of the project"
            content={() => csvOf(COLUMNS, all)}
          />
        )}
      </div>
    </Panel>
  );
}
