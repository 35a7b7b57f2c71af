/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { send } from "../api.ts";
import { ApiProblem } from "../api_problem.ts";
import { Dialog, DialogButtons } from "../dialog.tsx";
import { TextField } from "../field.tsx";
import { Icon } from "../icons.tsx";
import { go } from "../location_state.ts";
import { Panel } from "../panel.tsx";
import { refreshSession } from "../session.ts";
import { knownTimezones, type Project } from "./settings_replies.ts";

function ownTimezone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
}

/** Makes the project and shows it. */
function useCreation(onDone: () => void) {
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const create = async (body: Pick<Project, "name" | "siteUrl" | "timezone">) => {
    if (isBusy) return;
    setBusy(true);
    setProblem(null);
    try {
      const project = (await send<Project>("POST", "/v1/projects", body))!;
      await refreshSession();
      onDone();
      go({ project: project.id, filters: [] });
    } catch (error) {
      if (error instanceof ApiProblem) setProblem(error);
      setBusy(false);
    }
  };
  return { problem, isBusy, create };
}

function NewProject({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [siteUrl, setSiteUrl] = useState("");
  const [timezone, setTimezone] = useState(ownTimezone());
  const { problem, isBusy, create } = useCreation(onClose);
  return (
    <Dialog
      title="Create a project"
      onClose={onClose}
      footer={
        <DialogButtons onCancel={onClose} form="new-project" isDisabled={isBusy}>
          Create the project
        </DialogButtons>
      }
    >
      <form
        id="new-project"
        class="settings-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void create({ name, siteUrl: siteUrl.trim() || null, timezone: timezone.trim() });
        }}
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
          hint="It can be set later. Heatmaps take their pictures there."
        />
        <TextField
          label="Time zone"
          value={timezone}
          onChange={setTimezone}
          error={problem?.messageFor("timezone")}
          suggestions={knownTimezones()}
          isRequired
        />
        {problem !== null && <p role="alert" class="field-error">{problem.detail}</p>}
      </form>
    </Dialog>
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
        <button type="button" class="button" onClick={() => setOpen(true)}>
          <Icon name="plus" /> Create a project
        </button>
      </div>
      {isOpen && <NewProject onClose={() => setOpen(false)} />}
    </Panel>
  );
}
