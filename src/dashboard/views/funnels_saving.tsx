/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { send } from "../api.ts";
import { ApiProblem } from "../api_problem.ts";
import { Confirm, Dialog, DialogButtons } from "../dialog.tsx";
import { TextField } from "../field.tsx";
import { Icon } from "../icons.tsx";
import { hasScope } from "../session.ts";
import { type FunnelDefinition, isRunnable, isSame, plain } from "./funnels_definition.ts";
import { type Draft, showFunnel } from "./funnels_draft.ts";
import type { FunnelSource } from "./funnels_source.ts";
import { freeSlugOf } from "./goals_slug.ts";

const TITLE_LENGTH_MAX = 200;

/** One change at a time, with what went wrong. */
export function useChange(): {
  readonly isBusy: boolean;
  readonly problem: ApiProblem | null;
  readonly run: (work: () => Promise<void>) => Promise<void>;
} {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const run = async (work: () => Promise<void>) => {
    setBusy(true);
    setProblem(null);
    try {
      await work();
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, problem, run };
}

async function put(slug: string, title: string, definition: FunnelDefinition): Promise<void> {
  await send("PUT", `/v1/funnels/${slug}`, { title, ...plain(definition) });
}

interface TitleDialogProps {
  readonly heading: string;
  readonly action: string;
  readonly before: string;
  /** Stores under the title. Throws ApiProblem. */
  readonly onSave: (title: string) => Promise<void>;
  readonly onClose: () => void;
}

/** Asks for a funnel's name. */
function TitleDialog({ heading, action, before, onSave, onClose }: TitleDialogProps) {
  const [title, setTitle] = useState(before);
  const [isTried, setTried] = useState(false);
  const { isBusy, problem, run } = useChange();
  const missing = isTried && title.trim() === "" ? "Give the funnel a name." : null;
  const save = async (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (title.trim() === "") return;
    await run(async () => {
      await onSave(title.trim());
      onClose();
    });
  };
  return (
    <Dialog
      title={heading}
      onClose={onClose}
      footer={
        <DialogButtons onCancel={onClose} form="funnels-title" isDisabled={isBusy}>
          {action}
        </DialogButtons>
      }
    >
      <form id="funnels-title" class="funnels-form" noValidate onSubmit={save}>
        <TextField
          label="Name"
          value={title}
          placeholder="Checkout"
          maxLength={TITLE_LENGTH_MAX}
          error={missing ?? problem?.messageFor("title") ?? problem?.detail}
          onChange={setTitle}
        />
      </form>
    </Dialog>
  );
}

interface SavingProps {
  readonly source: FunnelSource;
  readonly draft: Draft;
}

type SavingDialog = "save as" | "rename" | "delete" | null;

function DeleteDialog({ source, onClose }: { source: FunnelSource; onClose: () => void }) {
  const { isBusy, problem, run } = useChange();
  const { slug, title } = source.saved!;
  return (
    <Confirm
      title="Delete this funnel?"
      action="Delete"
      isBusy={isBusy}
      onClose={onClose}
      onConfirm={() =>
        run(async () => {
          await send("DELETE", `/v1/funnels/${slug}`);
          onClose();
          source.changed(slug, true);
          showFunnel(null, null);
        })}
    >
      <p>
        “{title}” is taken off the list for everyone. No events are deleted, and you can build it
        again at any time.
      </p>
      {problem && <p class="banner" role="alert">{problem.detail}</p>}
    </Confirm>
  );
}

/** What the buttons ask before they act. */
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
        const slug = freeSlugOf(title, "funnel", funnels.map((each) => each.slug));
        const definition = plain(draft.value);
        await put(slug, title, definition);
        changed(slug);
        // Its steps stay in the address until the list holds them.
        showFunnel(definition, { slug, title, ...definition, steps: [] });
      }}
    />
  );
}

function Buttons(
  { source, draft, onAsk }: SavingProps & { onAsk: (dialog: SavingDialog) => void },
) {
  const { saved, changed } = source;
  const { isBusy, problem, run } = useChange();
  const canSave = isRunnable(draft.value);
  const isEdited = saved !== null && !isSame(draft.value, saved);
  const save = () =>
    run(async () => {
      await put(saved!.slug, saved!.title, draft.value);
      changed(saved!.slug);
    });
  return (
    <>
      {isEdited && (
        <button
          type="button"
          class="button button-primary"
          disabled={isBusy || !canSave}
          onClick={save}
        >
          Save changes
        </button>
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
          <button type="button" class="button button-quiet" onClick={() => onAsk("rename")}>
            Rename
          </button>
          <button type="button" class="button button-quiet" onClick={() => onAsk("delete")}>
            <Icon name="trash" /> Delete
          </button>
        </span>
      )}
      {problem && <p class="banner" role="alert">{problem.detail}</p>}
    </>
  );
}

/** Saving, renaming and deleting; without the right to, why they are missing. */
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
