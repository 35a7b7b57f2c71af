/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { send } from "../api.ts";
import { TextField } from "../field.tsx";
import { Button } from "../button.tsx";
import { go, inProject } from "../location_state.ts";
import { Panel } from "../panel.tsx";
import { FormDialog } from "../request_dialogs.tsx";
import { useRequest } from "../request_state.tsx";
import { refreshSession } from "../session.ts";
import { knownTimezones, type Project } from "./settings_replies.ts";

function ownTimezone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
}

function NewProject({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [siteUrl, setSiteUrl] = useState("");
  const [timezone, setTimezone] = useState(ownTimezone());
  const request = useRequest(async () => {
    const body = { name, siteUrl: siteUrl.trim() || null, timezone: timezone.trim() };
    const project = (await send<Project>("POST", "/v1/projects", body))!;
    await refreshSession();
    onClose();
    go(inProject(project.id));
  });
  const { problem } = request;
  return (
    <FormDialog
      title="Create a project"
      id="new-project"
      request={request}
      action="Create the project"
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        error={problem?.messageFor("name")}
        placeholder="Web shop"
        maxLength={200}
        isRequired
      />
      <TextField
        label="Site URL"
        value={siteUrl}
        onChange={setSiteUrl}
        error={problem?.messageFor("siteUrl")}
        placeholder="https://example.com"
        hint="It can be set later. Heatmaps take their captures there."
      />
      <TextField
        label="Time zone"
        value={timezone}
        onChange={setTimezone}
        error={problem?.messageFor("timezone")}
        suggestions={knownTimezones()}
        isRequired
      />
    </FormDialog>
  );
}

/** Makes another project. */
export function NewProjectPanel() {
  const [isOpen, setOpen] = useState(false);
  return (
    <Panel title="Another project">
      <div class="settings-stack">
        <p class="muted">
          Each site has numbers, keys and settings of its own. A project for each keeps them apart.
        </p>
        <Button icon="plus" onClick={() => setOpen(true)}>Create a project</Button>
      </div>
      {isOpen && <NewProject onClose={() => setOpen(false)} />}
    </Panel>
  );
}
