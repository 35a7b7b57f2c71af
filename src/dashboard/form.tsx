/// <reference lib="dom" />
import type { ComponentChildren } from "preact";

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
