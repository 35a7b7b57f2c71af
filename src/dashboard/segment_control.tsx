/// <reference lib="dom" />
import { useState } from "preact/hooks";
import type { SavedSegment } from "./segments.ts";
import { type Choice, SelectField } from "./field.tsx";
import { lazyView } from "./lazy_view.tsx";
import type { Filter } from "./location_query.ts";
import { filters, go, segment } from "./location_state.ts";
import { reloadAll, useRead } from "./resource.ts";
import type { SegmentDialogProps } from "./segment_dialog.tsx";
import { hasScope } from "./session.ts";
import { SHARE_ID } from "./share.ts";

export type Segment = Pick<SavedSegment, "slug" | "title">;

// Loaded on demand: it is seldom opened.
const SegmentDialog = lazyView<SegmentDialogProps>(
  async () => (await import("./segment_dialog.tsx")).SegmentDialog,
  null,
);

/** The project's segments. */
export function useSegments(): readonly SavedSegment[] {
  const path = SHARE_ID === null ? "/v1/segments" : null;
  const list = useRead<{ readonly segments: readonly SavedSegment[] }>(path);
  return list.data?.segments ?? [];
}

const NEW = "+new";
const SAVE = "+save";
const EDIT = "+edit";

/** The initial state of the dialog. */
interface Editing {
  readonly saved: SavedSegment | null;
  readonly filters: readonly Filter[];
}

/** Chooses everybody or a saved segment, and opens the dialog that makes or changes one. */
export function SegmentControl({ segments }: { segments: readonly SavedSegment[] }) {
  const [editing, setEditing] = useState<Editing | null>(null);
  const slug = segment.value;
  const chosen = segments.find((each) => each.slug === slug) ?? null;
  // A deleted segment stays in the list while chosen: the reads say what is wrong.
  const gone = slug !== null && chosen === null ? [{ value: slug, label: slug }] : [];
  const ways: readonly Choice[] = !hasScope("write") ? [] : [
    { value: NEW, label: "New segment…" },
    ...filters.value.length > 0 ? [{ value: SAVE, label: "Save these filters…" }] : [],
    ...chosen === null ? [] : [{ value: EDIT, label: `Edit “${chosen.title}”…` }],
  ].map((each) => ({ ...each, group: "Segments" }));
  const choose = (value: string) => {
    if (value === NEW) setEditing({ saved: null, filters: [] });
    else if (value === SAVE) setEditing({ saved: null, filters: filters.peek() });
    else if (value === EDIT) setEditing({ saved: chosen, filters: [] });
    else go({ segment: value === "" ? null : value });
  };
  const saved = (of: string | null) => {
    // Filters that the new segment has are no longer needed in the bar.
    const isSaved = editing !== null && editing.filters.length > 0 && of !== null;
    go({ segment: of, ...isSaved && { filters: [] } });
    setEditing(null);
    // The segment may select other people now.
    reloadAll();
  };
  return (
    <>
      <SelectField
        label="Segment"
        isLabelHidden
        value={slug ?? ""}
        choices={[
          { value: "", label: "Everybody" },
          ...segments.map(({ slug, title }) => ({ value: slug, label: title })),
          ...gone,
          ...ways,
        ]}
        onChange={choose}
      />
      {editing && (
        <SegmentDialog
          saved={editing.saved}
          filters={editing.filters}
          taken={segments.map((each) => each.slug)}
          onSaved={saved}
          onClose={() => setEditing(null)}
        />
      )}
    </>
  );
}
