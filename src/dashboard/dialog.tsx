/// <reference lib="dom" />
import { Button, type ButtonProps } from "./button.tsx";
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { focusBeside, partOf } from "./row_focus.ts";
import { noteTyping } from "./typing.ts";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  /** Buttons at the end, the main one last. */
  readonly footer?: ComponentChildren;
  readonly isWide?: boolean;
  /** Only its buttons close it, as what it shows is shown only once. */
  readonly isFirm?: boolean;
  /** Whether the control that opened it is about to disappear, as with the row of what was deleted. */
  readonly isLeaving?: (() => boolean) | undefined;
  /** It only asks: its text is read out as it opens. */
  readonly isQuestion?: boolean;
  readonly children: ComponentChildren;
}

/**
 * A modal dialog, open as long as it is rendered. Focus stays within, and then returns to where it was.
 * Escape and a click outside close it, unless something was typed, which a slip must not lose.
 */
export function Dialog({ title, onClose, footer, isWide = false, ...rest }: DialogProps) {
  const [isTyped, setTyped] = useState(false);
  const isFirm = rest.isFirm || isTyped;
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the page is painted: what is typed until then would go elsewhere.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const part = partOf(before);
    const shown = dialog.current!;
    if (!shown.open) shown.showModal();
    // On the first field, not on the button that closes it.
    shown.querySelector<HTMLElement>(".dialog-body :is(input, select, textarea)")?.focus();
    return () => {
      shown.close();
      if (!(before instanceof HTMLElement)) return;
      if (before.isConnected && !rest.isLeaving?.()) before.focus();
      else focusBeside(before, part);
    };
  }, []);
  useLayoutEffect(() => isTyped ? noteTyping() : undefined, [isTyped]);
  return (
    <dialog
      ref={dialog}
      class={isWide ? "dialog dialog-wide" : "dialog"}
      aria-labelledby={id}
      aria-describedby={rest.isQuestion ? `${id}-text` : undefined}
      // Else Chromium closes it at the second Escape, even if the event is prevented.
      closedby={isFirm ? "none" : undefined}
      onInput={() => setTyped(true)}
      onCancel={(event) => {
        event.preventDefault();
        if (!isFirm) onClose();
      }}
      onPointerDown={(event) => event.target === dialog.current && !isFirm && onClose()}
    >
      <div class="dialog-frame">
        <header class="dialog-head">
          <h2 id={id} class="dialog-title">{title}</h2>
          <Button icon="close" kind="icon" aria-label="Close" onClick={onClose} />
        </header>
        <div id={`${id}-text`} class="dialog-body">{rest.children}</div>
        {footer && <footer class="dialog-foot">{footer}</footer>}
      </div>
    </dialog>
  );
}

interface OpenerProps extends Omit<ButtonProps, "onClick"> {
  /** The dialog that it opens. */
  readonly dialog: (onClose: () => void) => ComponentChildren;
}

/** A button that opens a dialog. */
export function DialogOpener({ dialog, ...button }: OpenerProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button {...button} onClick={() => setOpen(true)} />
      {isOpen && dialog(() => setOpen(false))}
    </>
  );
}

interface DialogButtonsProps {
  readonly onCancel: () => void;
  /** The id of the form that the second button submits; absent: it calls `onDo`. */
  readonly form?: string;
  readonly onDo?: () => void;
  readonly isDisabled?: boolean;
  readonly isDanger?: boolean;
  /** The text of the second button. */
  readonly children: ComponentChildren;
}

/** The buttons of a dialog: cancel, or do what its title says. */
export function DialogButtons(props: DialogButtonsProps) {
  const { onCancel, form, onDo, isDisabled = false, isDanger = false, children } = props;
  return (
    <>
      <Button onClick={onCancel}>Cancel</Button>
      <button
        type={form === undefined ? "button" : "submit"}
        form={form}
        class={`button ${isDanger ? "button-danger" : "button-primary"}`}
        disabled={isDisabled}
        onClick={onDo}
      >
        {children}
      </button>
    </>
  );
}

interface ConfirmProps {
  readonly title: string;
  /** The text of the button that confirms. */
  readonly action: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  readonly isBusy?: boolean;
  /** See `Dialog`. */
  readonly isLeaving?: (() => boolean) | undefined;
  readonly children: ComponentChildren;
}

/** Asks before something that cannot be undone. */
export function Confirm(props: ConfirmProps) {
  const { title, action, onConfirm, onClose, isBusy = false, isLeaving, children } = props;
  return (
    <Dialog
      title={title}
      onClose={onClose}
      isLeaving={isLeaving}
      isQuestion
      footer={
        <DialogButtons onCancel={onClose} isDanger isDisabled={isBusy} onDo={onConfirm}>
          {action}
        </DialogButtons>
      }
    >
      {children}
    </Dialog>
  );
}
