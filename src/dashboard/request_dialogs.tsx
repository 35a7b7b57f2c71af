/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Confirm, Dialog, DialogButtons } from "./dialog.tsx";
import { Refused, type RequestState, useRequest } from "./request_state.tsx";

interface FormDialogProps {
  readonly title: string;
  /** The form's id in the page. */
  readonly id: string;
  /** The form's request. */
  readonly request: RequestState;
  /** The text of the button that sends it. */
  readonly action: string;
  readonly isWide?: boolean;
  /** Whether the form can be sent; the first call also begins to show what is missing. */
  readonly check?: () => boolean;
  readonly onClose: () => void;
  /** The fields. */
  readonly children: ComponentChildren;
}

/** A dialog whose form is one request; shows below the fields why it was refused. */
export function FormDialog(props: FormDialogProps) {
  const { title, id, request, action, isWide = false, check, onClose, children } = props;
  return (
    <Dialog
      title={title}
      isWide={isWide}
      onClose={onClose}
      footer={
        <DialogButtons onCancel={onClose} form={id} isDisabled={request.isBusy}>
          {action}
        </DialogButtons>
      }
    >
      <form
        id={id}
        class="settings-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (check?.() ?? true) void request.run();
        }}
      >
        {children}
        <Refused problem={request.problem} />
      </form>
    </Dialog>
  );
}

interface ConfirmedRequestProps {
  readonly title: string;
  /** The text of the button that confirms. */
  readonly action: string;
  /** Sends the request. Throws ApiProblem, which the dialog shows. */
  readonly ask: () => Promise<void>;
  readonly onClose: () => void;
  /** Whether the control that opened it stays. */
  readonly isKept?: boolean;
  /** What the request leads to. */
  readonly children: ComponentChildren;
}

/** Asks before a request that deletes what it was opened from, for good. */
export function ConfirmedRequest(props: ConfirmedRequestProps) {
  const { title, action, ask, children } = props;
  const { isBusy, problem, run } = useRequest(ask);
  const isGivenUp = useRef(false);
  const onClose = () => {
    // What was asked for is done, whether somebody waits for it or not.
    isGivenUp.current = !isBusy;
    props.onClose();
  };
  const isLeaving = () => !isGivenUp.current && !props.isKept;
  return (
    <Confirm {...{ title, action, isBusy, onClose, isLeaving }} onConfirm={run}>
      <p>{children}</p>
      <Refused problem={problem} />
    </Confirm>
  );
}
