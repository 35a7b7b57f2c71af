/// <reference lib="dom" />
import { Button } from "./button.tsx";
import { useEffect, useRef, useState } from "preact/hooks";

const SHOWN_MS = 2_000;

/** Copies a text. Pages over plain HTTP have no clipboard API, and select a field instead. */
async function copy(text: string, beside: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { /* the older way */ }
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "visually-hidden";
  // Within a modal dialog nothing outside of it can be selected.
  beside.append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  return isDone;
}

/** A button that copies a text, and says so. */
export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [note, setNote] = useState<string | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const press = async (event: MouseEvent) => {
    const button = event.currentTarget as HTMLElement;
    const isDone = await copy(text, button.parentElement ?? document.body);
    button.focus();
    setNote(isDone ? "Copied" : "Copy it by hand");
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setNote(null), SHOWN_MS);
  };
  return (
    <Button icon={note === "Copied" ? "check" : "copy"} class="settings-copy" onClick={press}>
      <span role="status">{note ?? label}</span>
    </Button>
  );
}
