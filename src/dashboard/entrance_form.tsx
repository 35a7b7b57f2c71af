/// <reference lib="dom" />
import { Button } from "./button.tsx";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Form } from "./form.tsx";
import { typedPassword } from "./passkey_hint.tsx";
import { Refused, useRequest } from "./request_state.tsx";
import { takeUpSession } from "./session.ts";

/** The props that connect a field with the form's state. */
interface TypedField {
  readonly value: string;
  readonly error: string | null | undefined;
  readonly onChange: (text: string) => void;
}

interface EntranceFormProps<Typed> {
  readonly start: Typed;
  /** A message for each field that is missing, shown before the server is asked. */
  readonly missingOf: (typed: Typed) => Partial<Typed>;
  /** Asks the server, which begins a session. Throws ApiProblem, which the form shows. */
  readonly ask: (typed: Typed) => Promise<void>;
  /** Once the session is taken up. */
  readonly onDone?: () => void;
  /** The button's text, and its text while the server is asked. */
  readonly action: string;
  readonly busy: string;
  readonly children: (field: (name: keyof Typed & string) => TypedField) => ComponentChildren;
}

/** A form that begins a session with a password. */
export function EntranceForm<Typed extends { readonly [Name in keyof Typed]: string }>(
  { start, missingOf, ask, onDone, action, busy, children }: EntranceFormProps<Typed>,
) {
  const [typed, setTyped] = useState(start);
  const [missing, setMissing] = useState<Partial<Typed>>({});
  const { isBusy, problem, run, clearProblem } = useRequest(async () => {
    await ask(typed);
    await takeUpSession();
    typedPassword.value = true;
    onDone?.();
  });
  const field = (name: keyof Typed & string): TypedField => ({
    value: typed[name],
    error: missing[name] ?? problem?.messageFor(name),
    onChange: (text) => {
      setTyped((before) => ({ ...before, [name]: text }));
      setMissing({});
      clearProblem();
    },
  });
  return (
    <Form
      class="stack-wide"
      onSubmit={() => {
        const found = missingOf(typed);
        setMissing(found);
        if (Object.keys(found).length === 0) void run();
      }}
    >
      {children(field)}
      <Refused problem={problem} />
      <Button kind="primary" type="submit" disabled={isBusy}>{isBusy ? busy : action}</Button>
    </Form>
  );
}
