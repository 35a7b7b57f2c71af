/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { send } from "../api.ts";
import { TextField } from "../field.tsx";
import { Button } from "../button.tsx";
import { Deletion, FormDialog } from "../request_dialogs.tsx";
import { Refused, useRequest } from "../request_state.tsx";
import { sendNew } from "../send_new.ts";
import { hasScope } from "../session.ts";
import { type FunnelDefinition, isRunnable, isSame, plain } from "./funnels_definition.ts";
import { type Draft, showFunnel } from "./funnels_draft.ts";
import type { FunnelSource } from "./funnels_source.ts";
import { freeSlugOf } from "./goals_slug.ts";

const TITLE_LENGTH_MAX = 200;

async function put(slug: string, title: string, definition: FunnelDefinition): Promise<void> {
  await send("PUT", `/v1/funnels/${slug}`, { title, ...plain(definition) });
}

interface TitleDialogProps {
  readonly heading: string;
  readonly action: string;
  readonly before: string;
  /** Saves under the title. Throws ApiProblem. */
  readonly onSave: (title: string) => Promise<void>;
  readonly onClose: () => void;
}

/** Asks for a funnel's name. */
function TitleDialog({ heading, action, before, onSave, onClose }: TitleDialogProps) {
  const [title, setTitle] = useState(before);
  const [isTried, setTried] = useState(false);
  const request = useRequest(async () => {
    await onSave(title.trim());
    onClose();
  });
  const isMissing = title.trim() === "";
  return (
    <FormDialog
      title={heading}
      id="funnels-title"
      request={request}
      action={action}
      check={() => {
        setTried(true);
        return !isMissing;
      }}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={title}
        placeholder="Checkout"
        maxLength={TITLE_LENGTH_MAX}
        error={isTried && isMissing
          ? "Give the funnel a name."
          : request.problem?.messageFor("title")}
        onChange={setTitle}
      />
    </FormDialog>
  );
}

interface SavingProps {
  readonly source: FunnelSource;
  readonly draft: Draft;
}

type SavingDialog = "save as" | "rename" | "delete" | null;

function DeleteDialog({ source, onClose }: { source: FunnelSource; onClose: () => void }) {
  const { slug, title } = source.saved!;
  const done = () => {
    source.changed(slug, true);
    showFunnel(null, null);
  };
  return (
    <Deletion
      title="Delete this funnel?"
      action="Delete"
      path={`/v1/funnels/${slug}`}
      onDone={done}
      onClose={onClose}
    >
      “{title}” is taken off the list for everyone. No events are deleted, and you can build it
      again at any time.
    </Deletion>
  );
}

/** The dialogs that the buttons open. */
function SaveDialogs({ source, draft, openDialog, onClose }: SavingProps & {
  readonly openDialog: SavingDialog;
  readonly onClose: () => void;
}) {
  const { saved, funnels, changed } = source;
  if (openDialog === "delete" && saved !== null) return <DeleteDialog {...{ source, onClose }} />;
  if (openDialog === "rename" && saved !== null) {
    return (
      <TitleDialog
        heading="Rename the funnel"
        action="Rename"
        before={saved.title}
        onClose={onClose}
        onSave={async (title) => {
          await put(saved.slug, title, saved);
          changed(saved.slug);
        }}
      />
    );
  }
  return openDialog !== "save as" ? null : (
    <TitleDialog
      heading="Save as a new funnel"
      action="Save"
      before=""
      onClose={onClose}
      onSave={async (title) => {
        const definition = plain(draft.value);
        const body = { title, ...definition };
        const { slug } = await sendNew(
          "/v1/funnels",
          body,
          funnels.map((each) => each.slug),
          (taken) => freeSlugOf(title, "funnel", taken),
        );
        changed(slug);
        // Its steps stay in the address until the list has them.
        showFunnel(definition, { slug, title, ...definition, steps: [] });
      }}
    />
  );
}

function Buttons(
  { source, draft, onAsk }: SavingProps & { onAsk: (dialog: SavingDialog) => void },
) {
  const { saved, changed } = source;
  const { isBusy, problem, run } = useRequest(async () => {
    await put(saved!.slug, saved!.title, draft.value);
    changed(saved!.slug);
  }, { isOver: false });
  const canSave = isRunnable(draft.value);
  const isEdited = saved !== null && !isSame(draft.value, saved);
  return (
    <>
      {isEdited && (
        <Button kind="primary" disabled={isBusy || !canSave} onClick={run}>Save changes</Button>
      )}
      <button
        type="button"
        class={saved === null ? "button button-primary" : "button"}
        disabled={!canSave}
        onClick={() => onAsk("save as")}
      >
        {saved === null ? "Save funnel" : "Save as…"}
      </button>
      {saved !== null && (
        <span class="funnels-save-minor">
          <Button kind="quiet" onClick={() => onAsk("rename")}>Rename</Button>
          <Button icon="trash" kind="quiet" onClick={() => onAsk("delete")}>Delete</Button>
        </span>
      )}
      <Refused problem={problem} />
    </>
  );
}

/** Saving, renaming and deleting; without the scope `write`, why they are missing. */
export function SaveActions({ source, draft }: SavingProps) {
  const [openDialog, setOpenDialog] = useState<SavingDialog>(null);
  if (!hasScope("write")) {
    return (
      <p class="funnels-save muted">
        Your link may only read, so funnels cannot be saved. The address of this page holds the
        whole funnel: share that, or ask for a link with the scope <code>write</code>.
      </p>
    );
  }
  return (
    <div class="funnels-save">
      <Buttons {...{ source, draft }} onAsk={setOpenDialog} />
      <SaveDialogs {...{ source, draft, openDialog }} onClose={() => setOpenDialog(null)} />
    </div>
  );
}
