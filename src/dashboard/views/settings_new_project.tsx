/// <reference lib="dom" />
import { send } from "../api.ts";
import { TextField } from "../field.tsx";
import { fieldsOf, useTyped } from "../form.tsx";
import { DialogOpener } from "../dialog.tsx";
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
  const typed = useTyped({ name: "", siteUrl: "", timezone: ownTimezone() });
  const request = useRequest(async () => {
    const { name, siteUrl, timezone } = typed.form;
    const body = { name, siteUrl: siteUrl.trim() || null, timezone: timezone.trim() };
    const project = (await send<Project>("POST", "/v1/projects", body))!;
    await refreshSession();
    onClose();
    go(inProject(project.id));
  });
  const field = fieldsOf({ ...typed, problem: request.problem });
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
        {...field("name")}
        placeholder="Web shop"
        maxLength={200}
        isRequired
      />
      <TextField
        label="Site URL"
        {...field("siteUrl")}
        placeholder="https://example.com"
        hint="It can be set later. Heatmaps take their captures there."
      />
      <TextField
        label="Time zone"
        {...field("timezone")}
        suggestions={knownTimezones()}
        isRequired
      />
    </FormDialog>
  );
}

/** Makes another project. */
export function NewProjectPanel() {
  return (
    <Panel title="Another project">
      <div class="settings-stack">
        <p class="muted">
          Each site has numbers, keys and settings of its own. A project for each keeps them apart.
        </p>
        <DialogOpener icon="plus" dialog={(onClose) => <NewProject onClose={onClose} />}>
          Create a project
        </DialogOpener>
      </div>
    </Panel>
  );
}
