/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { deleteAt, send } from "./api.ts";
import { ConditionRows } from "./condition_rows.tsx";
import { Dialog, DialogButtons } from "./dialog.tsx";
import { TextField } from "./field.tsx";
import { FilterEditor } from "./filter_editor.tsx";
import { IconButton } from "./icon_button.tsx";
import type { Filter } from "./location_query.ts";
import { Refused, useRequest } from "./request_state.tsx";
import { bodyOf, faultsOf, formOf, type SegmentForm, slugOfForm } from "./segment_form.ts";
import type { SavedSegment } from "./segments.ts";
import { sendNew } from "./send_new.ts";

const TITLE_LENGTH_MAX = 200;
const FIRST: Filter = { field: "country", op: "is", values: [] };

export interface SegmentDialogProps {
  /** The segment that is changed; null: a new one. */
  readonly saved: SavedSegment | null;
  /** The initial filters of a new one. */
  readonly filters: readonly Filter[];
  /** The slugs of all segments. */
  readonly taken: readonly string[];
  /** Called with the saved segment's slug; null: it was deleted. */
  readonly onSaved: (slug: string | null) => void;
  readonly onClose: () => void;
}

interface PartProps {
  readonly form: SegmentForm;
  readonly fault: string | undefined;
  readonly onChange: (changes: Partial<SegmentForm>) => void;
}

/** The filters on events and visits, as in the bar. */
function Filters({ form: { filters }, fault, onChange }: PartProps) {
  const change = (at: number, filter: Filter) =>
    onChange({ filters: filters.map((each, i) => i === at ? filter : each) });
  return (
    <fieldset class="segment-part">
      <legend class="field-label">Events and visits</legend>
      {filters.map((filter, i) => (
        <FilterEditor
          key={i}
          filter={filter}
          isLabelHidden
          onChange={(changed) => change(i, changed)}
          onRemove={() => onChange({ filters: filters.filter((_, j) => j !== i) })}
        />
      ))}
      {fault && <p class="field-error" role="alert">{fault}</p>}
      <IconButton
        icon="plus"
        kind="quiet"
        onClick={() => onChange({ filters: [...filters, FIRST] })}
      >
        Condition on events and visits
      </IconButton>
    </fieldset>
  );
}

function DeleteButton({ slug, onDeleted }: { slug: string; onDeleted: () => void }) {
  const [isAsked, setAsked] = useState(false);
  const { isBusy, problem, run } = useRequest(async () => {
    await deleteAt(`/v1/segments/${slug}`);
    onDeleted();
  });
  return (
    <div class="segment-delete">
      <IconButton
        icon="trash"
        kind={isAsked ? "danger" : "quiet"}
        isDisabled={isBusy}
        onClick={() => isAsked ? run() : setAsked(true)}
      >
        {isAsked ? "Delete it for everyone" : "Delete this segment"}
      </IconButton>
      <Refused problem={problem} />
    </div>
  );
}

/** The dialog that makes or changes a segment. */
export function SegmentDialog({ saved, filters, taken, onSaved, onClose }: SegmentDialogProps) {
  const [form, setForm] = useState(() => formOf(saved, filters));
  const [isTried, setTried] = useState(false);
  const { isBusy, problem, run } = useRequest(async () => {
    const body = bodyOf(form);
    const stored = saved === null
      ? await sendNew("/v1/segments", body, taken, (all) => slugOfForm(form, all))
      : await send<SavedSegment>("PUT", `/v1/segments/${saved.slug}`, body);
    onSaved(stored!.slug);
  });
  const faults = faultsOf(form);
  const shown = isTried ? faults : {};
  const change = (changes: Partial<SegmentForm>) => setForm({ ...form, ...changes });
  const save = async (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (Object.keys(faults).length === 0) await run();
  };
  return (
    <Dialog
      title={saved === null ? "New segment" : "Edit the segment"}
      isWide
      onClose={onClose}
      footer={
        <DialogButtons onCancel={onClose} form="segment-form" isDisabled={isBusy}>
          {saved === null ? "Create segment" : "Save segment"}
        </DialogButtons>
      }
    >
      <form id="segment-form" class="segment-form" noValidate onSubmit={save}>
        <TextField
          label="Title"
          value={form.title}
          placeholder="Came back and bought"
          maxLength={TITLE_LENGTH_MAX}
          error={shown.title}
          onChange={(title) => change({ title })}
        />
        <fieldset class="segment-part">
          <legend class="field-label">People</legend>
          <ConditionRows form={form} faults={shown} onChange={change} />
        </fieldset>
        <Filters form={form} fault={shown.filters} onChange={change} />
        <Refused problem={problem} />
      </form>
      {saved !== null && <DeleteButton slug={saved.slug} onDeleted={() => onSaved(null)} />}
    </Dialog>
  );
}
