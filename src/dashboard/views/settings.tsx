/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { currentProject } from "../location_state.ts";
import { useRead } from "../resource.ts";
import { hasScope, type SessionProject } from "../session.ts";
import { InstallPanel } from "./settings_install.tsx";
import { KeyDialogs, KeysPanel, type KeyTask } from "./settings_keys.tsx";
import { NewProjectPanel } from "./settings_new_project.tsx";
import { PersonPanel } from "./settings_person.tsx";
import { ProjectPanel } from "./settings_project.tsx";
import type { CreatedKey, KeysReply } from "./settings_replies.ts";
import { mayCreateProjects, SessionPanel } from "./settings_session.tsx";

/** What is made and changed of one project. */
function useKeys(current: SessionProject, isAdmin: boolean) {
  const [task, setTask] = useState<KeyTask | null>(null);
  const [known, setKnown] = useState<ReadonlyMap<string, string>>(new Map());
  const keys = useRead<KeysReply>(isAdmin ? `/v1/projects/${current.id}/keys` : null);
  const usable = keys.data?.keys
    .filter(({ kind, status }) => kind === "public" && status === "active") ?? null;
  const changed = (created: CreatedKey | null) => {
    if (created?.kind === "public") setKnown(new Map([...known, [created.id, created.key]]));
    keys.reload();
  };
  return { task, setTask, known, keys, usable, changed };
}

function ProjectSettings({ current, isAdmin }: { current: SessionProject; isAdmin: boolean }) {
  const { task, setTask, known, keys, usable, changed } = useKeys(current, isAdmin);
  return (
    <>
      <InstallPanel keys={usable} known={known} onTask={setTask} />
      {isAdmin && <KeysPanel keys={keys} onTask={setTask} />}
      <div class="settings-grid">
        <div class="settings-column">
          <ProjectPanel current={current} isAdmin={isAdmin} />
        </div>
        <div class="settings-column">
          {isAdmin && <PersonPanel />}
          {isAdmin && mayCreateProjects() && <NewProjectPanel />}
          <SessionPanel />
        </div>
      </div>
      <KeyDialogs projectId={current.id} task={task} onTask={setTask} onChanged={changed} />
    </>
  );
}

/** The project, its keys, how to send events to it, and this browser. */
export function SettingsView() {
  const current = currentProject.value;
  const isAdmin = hasScope("admin");
  if (current !== null) return <ProjectSettings current={current} isAdmin={isAdmin} />;
  return (
    <>
      {isAdmin && mayCreateProjects() && <NewProjectPanel />}
      <SessionPanel />
    </>
  );
}
