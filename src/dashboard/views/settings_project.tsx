/// <reference lib="dom" />
import { Button } from "../button.tsx";
import { useEffect, useRef, useState } from "preact/hooks";
import { send } from "../api.ts";
import { changesOf } from "../changes.ts";
import { Confirm } from "../dialog.tsx";
import { LinesField, SelectField, TextField } from "../field.tsx";
import { fieldsOf, Form, type FormPart } from "../form.tsx";
import { integer } from "../number_format.ts";
import { Panel } from "../panel.tsx";
import { Refused, useRequest } from "../request_state.tsx";
import { type Resource, useRead } from "../resource.ts";
import { hasAccount, refreshSession, type SessionProject } from "../session.ts";
import { type IpStorage, knownTimezones, type Project } from "./settings_replies.ts";

const DEFINITION = "What the project is called, where its site is, and how its events are kept.";

const IP_CHOICES = [
  { value: "", label: "As the server is set up" },
  { value: "full", label: "Whole addresses" },
  { value: "truncated", label: "Shortened addresses" },
  { value: "none", label: "No addresses" },
];

/** The project as the form has it. */
interface Draft {
  readonly name: string;
  readonly siteUrl: string;
  readonly timezone: string;
  /** One on each line. */
  readonly allowedOrigins: string;
  readonly ipStorage: string;
  readonly retentionDays: string;
}

function draftOf(project: Project): Draft {
  return {
    name: project.name,
    siteUrl: project.siteUrl ?? "",
    timezone: project.timezone,
    allowedOrigins: project.allowedOrigins.join("\n"),
    ipStorage: project.ipStorage ?? "",
    retentionDays: project.retentionDays === null ? "" : String(project.retentionDays),
  };
}

type Change = Partial<Omit<Project, "id">>;

/** What the form would change; unchanged members are left out. */
function changeOf(draft: Draft, project: Project): Change {
  const days = draft.retentionDays.trim();
  const wanted: Omit<Project, "id" | "createdAt"> = {
    name: draft.name.trim(),
    siteUrl: draft.siteUrl.trim() || null,
    timezone: draft.timezone.trim(),
    allowedOrigins: draft.allowedOrigins.split(/\s+/).filter((origin) => origin !== ""),
    ipStorage: (draft.ipStorage || null) as IpStorage | null,
    retentionDays: days === "" ? null : Number(days),
  };
  return changesOf(wanted, project);
}

/** Whether saving deletes events that are kept now. */
function isShorter({ retentionDays }: Change, project: Project): boolean {
  if (retentionDays === undefined || retentionDays === null) return false;
  return project.retentionDays === null || retentionDays < project.retentionDays;
}

function SiteFields(part: FormPart<Draft>) {
  const field = fieldsOf(part);
  return (
    <>
      <div class="field-pair">
        <TextField
          label="Name"
          {...field("name")}
          maxLength={200}
          isRequired
        />
        <TextField
          label="Time zone"
          {...field("timezone")}
          hint="Days begin and end by it."
          suggestions={knownTimezones()}
          isRequired
        />
      </div>
      <TextField
        label="Site URL"
        {...field("siteUrl")}
        placeholder="https://example.com"
        hint="Where the pages are. Heatmaps take their captures there."
      />
      <LinesField
        label="Allowed origins"
        hint="One on each line, such as https://example.com or https://*.example.com. Empty: any site that has a key may send events."
        rows={3}
        {...field("allowedOrigins")}
      />
    </>
  );
}

/** Whole addresses undo what the daily salt is for: says so, and changes it with one click. */
function AddressNote({ project, isBusy, onShorten }: {
  project: Project;
  isBusy: boolean;
  onShorten: () => void;
}) {
  if (project.ipStorage === "truncated" || project.ipStorage === "none") return null;
  return (
    <div class="settings-privacy">
      <p class="muted">
        {project.ipStorage === "full"
          ? "Whole IP addresses are stored"
          : "Unless the server's IP_STORAGE says otherwise, whole IP addresses are stored"}{" "}
        beside the visitor hash: whoever reads an event sees whose it is, although the hash's salt
        is deleted. Shortened ones (203.0.113.0) name a network and no person.
      </p>
      <Button disabled={isBusy} onClick={onShorten}>Store shortened addresses from now on</Button>
    </div>
  );
}

function StorageFields(part: FormPart<Draft>) {
  const field = fieldsOf(part);
  return (
    <div class="field-pair">
      <SelectField
        label="IP addresses"
        {...field("ipStorage")}
        hint="What is stored of them from now on. Places and visitors are known either way."
        choices={IP_CHOICES}
      />
      <TextField
        label="Keep events for (days)"
        type="number"
        min="1"
        max="36500"
        {...field("retentionDays")}
        placeholder="For ever"
        hint="Older events are deleted once a day. Empty: they are kept for ever."
      />
    </div>
  );
}

/** The project as it is edited, and how it is saved. */
function useSaving(project: Project, onSaved: () => void) {
  const [draft, setDraft] = useState(draftOf(project));
  const [note, setNote] = useState("");
  const noted = useRef<HTMLSpanElement>(null);
  const stored = useRef(project);
  useEffect(() => {
    // Unsaved edits stay.
    const edits = changeOf(draft, stored.current);
    stored.current = project;
    setDraft(draftOf({ ...project, ...edits }));
  }, [JSON.stringify(project)]);
  const change = changeOf(draft, stored.current);
  const edit = (edited: Partial<Draft>) => {
    setDraft((before) => ({ ...before, ...edited }));
    setNote("");
  };
  const { isBusy, problem, run: save } = useRequest(async (wanted: Change) => {
    const sent = { ...stored.current, ...wanted };
    const saved = (await send<Project>("PATCH", `/v1/projects/${project.id}`, wanted))!;
    stored.current = saved;
    // As it is stored, with other unsaved edits.
    setDraft((now) => draftOf({ ...saved, ...changeOf(now, sent) }));
    await refreshSession();
    setNote("Saved");
    onSaved();
  }, { isOver: false, place: noted });
  return { draft, edit, change, stored: stored.current, problem, note, noted, isBusy, save };
}

function ProjectForm({ project, onSaved }: { project: Project; onSaved: () => void }) {
  const { draft, edit, change, stored, problem, note, noted, isBusy, save } = useSaving(
    project,
    onSaved,
  );
  const [isAsked, setAsked] = useState(false);
  const isChanged = Object.keys(change).length > 0;
  const part = { form: draft, problem, put: edit };
  return (
    <Form
      class="settings-form"
      onSubmit={() => {
        if (!isChanged || isBusy) return;
        if (isShorter(change, stored)) setAsked(true);
        else void save(change);
      }}
    >
      <SiteFields {...part} />
      <StorageFields {...part} />
      <AddressNote
        project={stored}
        isBusy={isBusy}
        onShorten={() => {
          edit({ ipStorage: "truncated" });
          void save({ ipStorage: "truncated" });
        }}
      />
      <div class="settings-actions">
        <Button kind="primary" type="submit" disabled={!isChanged || isBusy}>
          {isBusy ? "Saving…" : "Save changes"}
        </Button>
        <span ref={noted} tabIndex={-1} role="status" class="muted">{note}</span>
        <Refused problem={problem} />
      </div>
      {isAsked && (
        <Confirm
          title="Delete older events?"
          action="Save and delete them"
          onClose={() => setAsked(false)}
          onConfirm={() => {
            setAsked(false);
            void save(change);
          }}
        >
          <p>
            Events older than {integer(change.retentionDays ?? null)}{" "}
            days will be deleted for good within a day. They cannot be brought back.
          </p>
        </Confirm>
      )}
    </Form>
  );
}

/** What is shown without the scope `admin`. */
function ReadOnly({ project }: { project: SessionProject }) {
  return (
    <Panel title="Project" definition={DEFINITION}>
      <dl class="settings-facts">
        <dt>Name</dt>
        <dd>{project.name}</dd>
        <dt>Project id</dt>
        <dd>
          <code>{project.id}</code>
        </dd>
        <dt>Site URL</dt>
        <dd>{project.siteUrl ?? "Not set"}</dd>
        <dt>Time zone</dt>
        <dd>{project.timezone}</dd>
      </dl>
      <p class="muted settings-why">
        {hasAccount.value
          ? "You may look but not change anything here. Ask an owner for the role of an admin."
          : (
            <>
              Your token may look but not change anything here. For that it needs the scope{" "}
              <code>admin</code>.
            </>
          )}
      </p>
    </Panel>
  );
}

interface ProjectPanelProps {
  readonly current: SessionProject;
  readonly isAdmin: boolean;
}

function Editable({ current }: { current: SessionProject }) {
  const read: Resource<Project> = useRead<Project>(`/v1/projects/${current.id}`);
  return (
    <Panel
      title="Project"
      definition={DEFINITION}
      state={read}
      skeletonRows={8}
      actions={<code class="muted">{current.id}</code>}
    >
      {read.data && <ProjectForm project={read.data} onSaved={read.reload} />}
    </Panel>
  );
}

/** The project's own settings. */
export function ProjectPanel({ current, isAdmin }: ProjectPanelProps) {
  return isAdmin ? <Editable current={current} /> : <ReadOnly project={current} />;
}
