/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { currentProject } from "../location_state.ts";
import { EmptyNote } from "../panel.tsx";
import { useRead } from "../resource.ts";
import { hasScope, isForEveryProject, type SessionProject } from "../session.ts";
import { InstallPanel } from "./settings_install.tsx";
import { KeyDialogs, KeysPanel, type KeyTask } from "./settings_keys.tsx";
import { NewProjectPanel } from "./settings_new_project.tsx";
import { PersonPanel } from "./settings_person.tsx";
import { ProjectPanel } from "./settings_project.tsx";
import type { CreatedKey, KeysReply } from "./settings_replies.ts";

/** The keys of one project, and the task that a dialog is open for. */
function useKeys(current: SessionProject, isAdmin: boolean) {
  const [task, setTask] = useState<KeyTask | null>(null);
  const [latest, setLatest] = useState<CreatedKey | null>(null);
  const keys = useRead<KeysReply>(isAdmin ? `/v1/projects/${current.id}/keys` : null);
  const usable = keys.data?.keys
    .filter(({ kind, status }) => kind === "public" && status === "active") ?? null;
  const changed = (created: CreatedKey | null) => {
    if (created?.kind === "public") setLatest(created);
    keys.reload();
  };
  return { task, setTask, latest, keys, usable, changed };
}

function ProjectSettings({ current, isAdmin }: { current: SessionProject; isAdmin: boolean }) {
  const { task, setTask, latest, keys, usable, changed } = useKeys(current, isAdmin);
  return (
    <>
      <InstallPanel keys={usable} latest={latest} onTask={setTask} />
      {isAdmin && <KeysPanel keys={keys} onTask={setTask} />}
      <div class="settings-grid">
        <div class="stack-wide">
          <ProjectPanel current={current} isAdmin={isAdmin} />
        </div>
        <div class="stack-wide">
          {isAdmin && <PersonPanel />}
          {isAdmin && isForEveryProject() && <NewProjectPanel />}
        </div>
      </div>
      <KeyDialogs projectId={current.id} task={task} onTask={setTask} onChanged={changed} />
    </>
  );
}

/** The project, its keys, and how to send events to it. */
export function ProjectSection() {
  const current = currentProject.value;
  const isAdmin = hasScope("admin");
  if (current !== null) return <ProjectSettings current={current} isAdmin={isAdmin} />;
  if (isAdmin && isForEveryProject()) return <NewProjectPanel />;
  return (
    <EmptyNote title="There is no project to show">
      Ask whoever let you in for access to one.
    </EmptyNote>
  );
}
