/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icons.tsx";

interface IconButtonProps {
  readonly icon: IconName;
  readonly kind?: "quiet" | "primary" | "danger";
  readonly isDisabled?: boolean;
  readonly onClick: () => void;
  readonly children: ComponentChildren;
}

/** A button with an icon before its text. */
export function IconButton({ icon, kind, isDisabled, onClick, children }: IconButtonProps) {
  return (
    <button
      type="button"
      class={kind === undefined ? "button" : `button button-${kind}`}
      disabled={isDisabled}
      onClick={onClick}
    >
      <Icon name={icon} /> {children}
    </button>
  );
}
