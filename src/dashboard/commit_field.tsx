/// <reference lib="dom" />
import { TextField } from "./field.tsx";
import { useTypedText } from "./typed_text.ts";

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
  const [draft, setDraft] = useTypedText(value);
  return (
    <div onChange={() => draft.trim() !== value && onChange(draft.trim())}>
      <TextField {...field} value={draft} onChange={setDraft} />
    </div>
  );
}
