/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ApiProblem } from "./api_problem.ts";

interface FormProps {
  readonly id?: string;
  readonly class?: string;
  readonly onSubmit: () => void;
  readonly children: ComponentChildren;
}

/** A form that the page itself submits and checks, not the browser. */
export function Form({ onSubmit, ...form }: FormProps) {
  const submit = (event: Event) => {
    event.preventDefault();
    onSubmit();
  };
  return <form {...form} noValidate onSubmit={submit} />;
}

/** What a form hands to its fields. */
export interface FormPart<Typed> {
  readonly form: Typed;
  readonly problem: ApiProblem | null;
  readonly put: (change: Partial<Typed>) => void;
}

/** The state of a form: what is typed, and how members of it change. */
export function useTyped<Typed extends object>(start: Typed): Omit<FormPart<Typed>, "problem"> {
  const [form, setForm] = useState(start);
  return { form, put: (change) => setForm((before) => ({ ...before, ...change })) };
}

/**
 * Connects fields with their form. The returned function gives a field its text, and the message of the server
 * about `member` of the request.
 */
export function fieldsOf<Typed extends object>({ form, problem, put }: FormPart<Typed>) {
  return <Name extends keyof Typed & string>(name: Name, member: string = name) => ({
    value: form[name],
    error: problem?.messageFor(member),
    onChange: (value: Typed[Name]) => put({ [name]: value } as unknown as Partial<Typed>),
  });
}
