/// <reference lib="dom" />
import type { ButtonHTMLAttributes } from "preact";
import { Icon, type IconName } from "./icons.tsx";

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** Shown before the text. */
  readonly icon?: IconName;
  readonly iconSize?: number;
  /** `icon`: it has no text, but an `aria-label`. */
  readonly kind?: "quiet" | "primary" | "danger" | "icon" | undefined;
}

/** A button, which submits a form only if `type` says so. */
export function Button({ icon, iconSize = 16, kind, children, ...rest }: ButtonProps) {
  const classes = ["button", kind && `button-${kind}`, rest.class].filter(Boolean).join(" ");
  return (
    <button type="button" {...rest} class={classes}>
      {icon && <Icon name={icon} size={iconSize} />}
      {children}
    </button>
  );
}
