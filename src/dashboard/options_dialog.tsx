/// <reference lib="dom" />
import { useId, useState } from "preact/hooks";
import { Dialog, DialogButtons } from "./dialog.tsx";
import { SelectField, TextField } from "./field.tsx";
import { Form } from "./form.tsx";
import { readBots } from "./location_query.ts";
import { bots, currentProject, effectiveTimezone, go } from "./location_state.ts";

const BOT_CHOICES = [
  { value: "exclude", label: "Excluded" },
  { value: "include", label: "Included" },
  { value: "only", label: "Only bots" },
];

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }) && /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}

interface OptionsProps {
  /** Whether bots can be included: sums of all projects always exclude them. */
  readonly hasBots: boolean;
  readonly onClose: () => void;
}

/** The choice of the time zone, and of whether bots count. */
export function OptionsDialog({ hasBots, onClose }: OptionsProps) {
  const form = useId();
  const own = currentProject.value?.timezone ?? "UTC";
  const [zone, setZone] = useState(effectiveTimezone.value ?? own);
  const [choice, setChoice] = useState<string>(bots.value);
  const error = isTimezone(zone) ? null : "There is no such time zone.";
  const save = () => {
    if (error !== null) return;
    go({ timezone: zone === own ? null : zone, bots: readBots(choice) });
    onClose();
  };
  return (
    <Dialog
      title={hasBots ? "Time zone and bots" : "Time zone"}
      onClose={onClose}
      footer={
        <DialogButtons onCancel={onClose} form={form} isDisabled={error !== null}>
          Apply
        </DialogButtons>
      }
    >
      <Form id={form} class="settings-form" onSubmit={save}>
        <TextField
          label="Time zone"
          hint={`Days and hours are those of this zone. The project's own is ${own}.`}
          value={zone}
          error={error}
          suggestions={Intl.supportedValuesOf("timeZone")}
          onChange={setZone}
        />
        {hasBots && (
          <SelectField
            label="Bots"
            hint="Crawlers and scripts that give themselves away."
            value={choice}
            choices={BOT_CHOICES}
            onChange={setChoice}
          />
        )}
      </Form>
    </Dialog>
  );
}
