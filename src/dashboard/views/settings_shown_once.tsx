/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import { Dialog } from "../dialog.tsx";
import { CopyButton } from "../copy_button.tsx";

/** A text to be copied, such as a link. `label`: what it is, read out. */
export function CodeToCopy({ label, text }: { label: string; text: string }) {
  return (
    <div class="settings-code">
      <pre class="code code-wrap" tabIndex={0} aria-label={label}>{text}</pre>
      <CopyButton text={text} />
    </div>
  );
}

interface ShownOnceProps {
  readonly title: string;
  /** Whether it can be had again: then nobody is asked whether they have copied it. */
  readonly isKept?: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** What was just made, and is shown at this one moment. */
export function ShownOnce({ title, isKept = false, onClose, children }: ShownOnceProps) {
  return (
    <Dialog
      title={title}
      isFirm={!isKept}
      onClose={onClose}
      footer={
        <button type="button" class="button button-primary" onClick={onClose}>
          {isKept ? "Done" : "I have copied it"}
        </button>
      }
    >
      {children}
    </Dialog>
  );
}
