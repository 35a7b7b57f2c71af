/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { deleteAt, send } from "./api.ts";
import { ConditionRows } from "./condition_rows.tsx";
import { TextField } from "./field.tsx";
import { useTyped } from "./form.tsx";
import { FilterList } from "./filter_list.tsx";
import { Button } from "./button.tsx";
import type { Filter } from "./location_query.ts";
import { FormDialog } from "./request_dialogs.tsx";
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
  return (
    <fieldset class="segment-part">
      <legend class="field-label">Events and visits</legend>
      <FilterList
        filters={filters}
        first={FIRST}
        addText="Condition on events and visits"
        onChange={(changed) => onChange({ filters: changed })}
      >
        {fault && <p class="field-error" role="alert">{fault}</p>}
      </FilterList>
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
      <Button
        icon="trash"
        kind={isAsked ? "danger" : "quiet"}
        disabled={isBusy}
        onClick={() => isAsked ? run() : setAsked(true)}
      >
        {isAsked ? "Delete it for everyone" : "Delete this segment"}
      </Button>
      <Refused problem={problem} />
    </div>
  );
}

/** The dialog that makes or changes a segment. */
export function SegmentDialog({ saved, filters, taken, onSaved, onClose }: SegmentDialogProps) {
  const { form, put } = useTyped(formOf(saved, filters));
  const [isTried, setTried] = useState(false);
  const request = useRequest(async () => {
    const body = bodyOf(form);
    const stored = saved === null
      ? await sendNew("/v1/segments", body, taken, (all) => slugOfForm(form, all))
      : await send<SavedSegment>("PUT", `/v1/segments/${saved.slug}`, body);
    onSaved(stored!.slug);
  });
  const faults = faultsOf(form);
  const shown = isTried ? faults : {};
  return (
    <FormDialog
      title={saved === null ? "New segment" : "Edit the segment"}
      id="segment-form"
      class="stack-wide"
      request={request}
      action={saved === null ? "Create segment" : "Save segment"}
      isWide
      check={() => {
        setTried(true);
        return Object.keys(faults).length === 0;
      }}
      onClose={onClose}
      below={saved && <DeleteButton slug={saved.slug} onDeleted={() => onSaved(null)} />}
    >
      <TextField
        label="Title"
        value={form.title}
        placeholder="Came back and bought"
        maxLength={TITLE_LENGTH_MAX}
        error={shown.title}
        onChange={(title) => put({ title })}
      />
      <fieldset class="segment-part">
        <legend class="field-label">People</legend>
        <ConditionRows form={form} faults={shown} onChange={put} />
      </fieldset>
      <Filters form={form} fault={shown.filters} onChange={put} />
    </FormDialog>
  );
}
