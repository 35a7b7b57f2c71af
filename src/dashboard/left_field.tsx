/// <reference lib="dom" />
import { useEffect, useState } from "preact/hooks";
import { TextField } from "./field.tsx";

interface LeftFieldProps {
  readonly label: string;
  readonly value: string;
  readonly placeholder: string;
  readonly maxLength: number;
  /** Values to choose from; others may be typed too. */
  readonly suggestions: readonly string[] | undefined;
  readonly onChange: (text: string) => void;
}

/** One line of text that takes effect by itself, but not at every letter: once it is left or picked. */
export function LeftField({ value, onChange, ...field }: LeftFieldProps) {
  const [draft, setDraft] = useState(value);
  useEffect(() => setDraft(value), [value]);
  return (
    <div onChange={() => draft.trim() !== value && onChange(draft.trim())}>
      <TextField {...field} value={draft} onChange={setDraft} />
    </div>
  );
}
