/// <reference lib="dom" />
import { Button } from "../button.tsx";
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
  /** Whether it can be seen again later; if not, the button has the person confirm that they copied it. */
  readonly isKept?: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Something new that is shown at this moment only. */
export function ShownOnce({ title, isKept = false, onClose, children }: ShownOnceProps) {
  return (
    <Dialog
      title={title}
      isFirm={!isKept}
      onClose={onClose}
      footer={
        <Button kind="primary" onClick={onClose}>{isKept ? "Done" : "I have copied it"}</Button>
      }
    >
      {children}
    </Dialog>
  );
}
