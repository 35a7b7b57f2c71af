/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Confirm, Dialog, DialogButtons } from "./dialog.tsx";
import { Refused, type RequestState, useRequest } from "./request_state.tsx";

interface FormDialogProps {
  readonly title: string;
  /** Of the form, in the page. */
  readonly id: string;
  /** What the form sends. */
  readonly request: RequestState;
  /** The word on the button that sends it. */
  readonly action: string;
  readonly isWide?: boolean;
  /** Whether it can be sent as it is; what is missing is told from then on. */
  readonly check?: () => boolean;
  readonly onClose: () => void;
  /** The fields. */
  readonly children: ComponentChildren;
}

/** A dialog whose form is one request: what is refused is told below the fields. */
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
  /** The word on the button that does it. */
  readonly action: string;
  /** Does it. Throws ApiProblem, which is told in the dialog. */
  readonly ask: () => Promise<void>;
  readonly onClose: () => void;
  /** Whether what it was opened from stays all the same. */
  readonly isKept?: boolean;
  /** What follows from it. */
  readonly children: ComponentChildren;
}

/** Asks before a request that takes away, for good, what it was opened from. */
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
