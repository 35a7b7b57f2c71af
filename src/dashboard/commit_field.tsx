/// <reference lib="dom" />
import { TextField } from "./field.tsx";
import { useTypedText } from "./typed_text.ts";

interface CommitFieldProps {
  readonly label: string;
  readonly value: string;
  readonly placeholder: string;
  readonly maxLength: number;
  /** Values to choose from; others may be typed too. */
  readonly suggestions: readonly string[] | undefined;
  readonly onChange: (text: string) => void;
}

/** One line of text whose change takes effect once the field is left, or a suggestion is picked. */
export function CommitField({ value, onChange, ...field }: CommitFieldProps) {
  const [draft, setDraft] = useTypedText(value);
  return (
    <div onChange={() => draft.trim() !== value && onChange(draft.trim())}>
      <TextField {...field} value={draft} onChange={setDraft} />
    </div>
  );
}
