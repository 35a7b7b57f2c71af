/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { deleteAt } from "./api.ts";
import { Confirm, Dialog, DialogButtons } from "./dialog.tsx";
import { Form } from "./form.tsx";
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
  readonly class?: string;
  /** Whether the form can be sent; the first call also begins to show what is missing. */
  readonly check?: () => boolean;
  readonly onClose: () => void;
  /** The fields. */
  readonly children: ComponentChildren;
  /** Shown below the form. */
  readonly below?: ComponentChildren;
}

/** A dialog whose form is one request; shows below the fields why it was refused. */
export function FormDialog(props: FormDialogProps) {
  const { title, id, request, action, isWide = false, check, onClose, children, below } = props;
  const { class: form = "settings-form" } = props;
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
      <Form id={id} class={form} onSubmit={() => (check?.() ?? true) && void request.run()}>
        {children}
        <Refused problem={request.problem} />
      </Form>
      {below}
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
  const { isBusy, problem, run } = useRequest(() => ask());
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

interface DeletionProps extends Omit<ConfirmedRequestProps, "ask"> {
  /** What is deleted. */
  readonly path: string;
  readonly onDone: () => void;
}

/** Asks before something is deleted at the server, then closes. */
export function Deletion({ path, onDone, ...dialog }: DeletionProps) {
  const ask = async () => {
    await deleteAt(path);
    onDone();
    dialog.onClose();
  };
  return <ConfirmedRequest {...dialog} ask={ask} />;
}
