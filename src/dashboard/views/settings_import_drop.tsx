/// <reference lib="dom" />
import { useId, useState } from "preact/hooks";

/** Takes a file that is dropped, or chosen. */
export function FileDrop({ onFile }: { onFile: (file: File) => void }) {
  const id = useId();
  const [isOver, setOver] = useState(false);
  const take = (files: FileList | null | undefined) => {
    const file = files?.[0];
    if (file !== undefined) onFile(file);
  };
  return (
    <div
      class={`import-drop ${isOver ? "import-drop-over" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer?.files);
      }}
    >
      <label for={id}>Drop an export here, or choose it</label>
      <input id={id} type="file" onChange={(event) => take(event.currentTarget.files)} />
      <p class="field-hint">
        A file of Umami, PostHog, Amplitude, Mixpanel, Google Analytics 4, Matomo or GoatCounter, of
        at most 10 MiB: packed as it came, or plain.
      </p>
    </div>
  );
}
