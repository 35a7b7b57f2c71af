/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { send } from "../api.ts";
import { CheckField, Segments, TextField } from "../field.tsx";
import { isWhole } from "../filter_editor.tsx";
import type { Filter } from "../location_query.ts";
import { FormDialog } from "../request_dialogs.tsx";
import { useRequest } from "../request_state.tsx";
import { session } from "../session.ts";
import { freeSlugOf } from "./goals_slug.ts";
import { FilterList } from "./settings_filter_list.tsx";
import { faultOf } from "./settings_share_form.ts";
import { addressesOf, ReceiverFields, type ReceiverForm } from "./settings_told_fields.tsx";
import type { Digest, Webhook } from "./settings_told_replies.ts";

interface DigestForm extends ReceiverForm {
  readonly title: string;
  readonly every: string;
  readonly at: string;
  readonly timezone: string;
  readonly projects: readonly string[];
  readonly filters: readonly Filter[];
}

const NEW: DigestForm = {
  title: "",
  every: "weekly",
  at: "08:00",
  timezone: "",
  to: "",
  webhooks: [],
  projects: [],
  filters: [],
};

const formOf = (digest: Digest): DigestForm => ({
  ...digest,
  timezone: digest.timezone ?? "",
  to: digest.to.join("\n"),
});

const PERIODS = [
  { value: "daily", label: "Every day" },
  { value: "weekly", label: "Every Monday" },
  { value: "monthly", label: "Every month" },
];

function bodyOf({ title, every, at, timezone, to, webhooks, projects, filters }: DigestForm) {
  return {
    ...{ title, every, at, webhooks, projects },
    timezone: timezone.trim() === "" ? null : timezone.trim(),
    to: addressesOf(to),
    filters: filters.filter(isWhole),
  };
}

interface ProjectsFieldProps {
  readonly chosen: readonly string[];
  readonly onChange: (projects: readonly string[]) => void;
}

/** Which projects it tells of, where there are several. */
function ProjectsField({ chosen, onChange }: ProjectsFieldProps) {
  const projects = session.value?.projects ?? [];
  if (projects.length < 2) return null;
  return (
    <fieldset class="choice-list">
      <legend class="field-label">It tells of</legend>
      <div class="choice-boxes">
        {projects.map(({ id, name }) => (
          <CheckField
            key={id}
            label={name}
            isChecked={chosen.includes(id)}
            onChange={(isChecked) =>
              onChange(
                projects.map((each) => each.id)
                  .filter((each) => each === id ? isChecked : chosen.includes(each)),
              )}
          />
        ))}
      </div>
      <p class="field-hint">None: this project alone.</p>
    </fieldset>
  );
}

interface DigestDialogProps {
  /** Null: a new one. */
  readonly of: Digest | null;
  readonly taken: readonly string[];
  readonly webhooks: readonly Webhook[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** The form of a digest. */
export function DigestDialog({ of, taken, webhooks, onClose, onDone }: DigestDialogProps) {
  const [form, setForm] = useState(of === null ? NEW : formOf(of));
  const put = (change: Partial<DigestForm>) => setForm((before) => ({ ...before, ...change }));
  const request = useRequest(async () => {
    const slug = of?.slug ?? freeSlugOf(form.title, "digest", taken);
    await send("PUT", `/v1/digests/${slug}`, bodyOf(form));
    onDone();
  });
  const { problem } = request;
  return (
    <FormDialog
      title={of === null ? "A new digest" : `Change ${of.title}`}
      id="digest"
      request={request}
      action="Save"
      isWide
      onClose={onClose}
    >
      <TextField
        label="Title"
        value={form.title}
        placeholder="The shop, every Monday"
        maxLength={200}
        error={faultOf(problem, "title")}
        onChange={(title) => put({ title })}
      />
      <Segments
        label="How often"
        value={form.every}
        choices={PERIODS}
        onChange={(every) => put({ every })}
      />
      <div class="field-pair">
        <TextField
          label="At"
          value={form.at}
          placeholder="08:00"
          error={faultOf(problem, "at")}
          onChange={(at) => put({ at })}
        />
        <TextField
          label="Time zone"
          value={form.timezone}
          placeholder="The project's"
          error={faultOf(problem, "timezone")}
          onChange={(timezone) => put({ timezone })}
        />
      </div>
      <ReceiverFields {...{ form, webhooks, problem, put }} />
      <ProjectsField chosen={form.projects} onChange={(projects) => put({ projects })} />
      <FilterList
        filters={form.filters}
        error={faultOf(problem, "filters")}
        onChange={(filters) => put({ filters })}
      />
    </FormDialog>
  );
}
