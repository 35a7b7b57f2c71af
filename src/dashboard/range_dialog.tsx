/// <reference lib="dom" />
import { useId, useState } from "preact/hooks";
import { Dialog, DialogButtons } from "./dialog.tsx";
import { TextField } from "./field.tsx";
import { Form } from "./form.tsx";
import type { Dates } from "./location_query.ts";

interface RangeDialogProps {
  readonly title: string;
  readonly dates: Dates;
  readonly onSave: (dates: Dates) => void;
  readonly onClose: () => void;
}

/** Asks for two local dates, both inclusive. */
export function RangeDialog({ title, dates, onSave, onClose }: RangeDialogProps) {
  const form = useId();
  const [from, setFrom] = useState(dates.from);
  const [to, setTo] = useState(dates.to);
  const error = from !== "" && to !== "" && from > to ? "The end lies before the start." : null;
  const isWhole = from !== "" && to !== "" && error === null;
  const save = () => {
    if (!isWhole) return;
    onSave({ from, to });
    onClose();
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <DialogButtons onCancel={onClose} form={form} isDisabled={!isWhole}>Apply</DialogButtons>
      }
    >
      <Form id={form} class="field-pair" onSubmit={save}>
        <TextField label="First day" type="date" value={from} onChange={setFrom} />
        <TextField label="Last day" type="date" value={to} error={error} onChange={setTo} />
      </Form>
    </Dialog>
  );
}
