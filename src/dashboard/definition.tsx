/// <reference lib="dom" />
import { useEffect, useId, useRef, useState } from "preact/hooks";

const MARGIN_PX = 12;
/** Time for the pointer to cross the gap to the text before it is hidden. */
const LEAVE_MS = 150;

/** Places a text above what it is about, or below it for lack of room, within the window. */
export function placeAbove(bubble: HTMLElement, about: Element, gapPx = 8): void {
  const at = about.getBoundingClientRect();
  const { offsetWidth, offsetHeight } = bubble;
  const left = at.left + at.width / 2 - offsetWidth / 2;
  const leftMax = document.documentElement.clientWidth - offsetWidth - MARGIN_PX;
  const above = at.top - gapPx - offsetHeight;
  bubble.style.left = `${Math.max(MARGIN_PX, Math.min(left, leftMax))}px`;
  bubble.style.top = `${above >= MARGIN_PX ? above : at.bottom + gapPx}px`;
}

interface DefinitionProps {
  /** What is defined, as in "Bounce rate". */
  readonly of: string;
  readonly text: string;
  /** The word itself is the button, as in the head of a narrow column; else an "i" is. */
  readonly isWord?: boolean;
}

/** A button whose definition is shown on hover, on focus and on a tap, until Escape or leaving. */
export function Definition({ of, text, isWord = false }: DefinitionProps) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const bubble = useRef<HTMLSpanElement>(null);
  const leaving = useRef<ReturnType<typeof setTimeout>>(undefined);
  const enter = () => {
    clearTimeout(leaving.current);
    setOpen(true);
  };
  const leave = () => leaving.current = setTimeout(() => setOpen(false), LEAVE_MS);
  useEffect(() => {
    if (!isOpen || bubble.current === null || button.current === null) return;
    // In the top layer no panel or dialog cuts it off.
    bubble.current.showPopover();
    placeAbove(bubble.current, button.current);
    const close = () => setOpen(false);
    const closeByKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      // Escape closes only the text, not a dialog around it.
      event.preventDefault();
      event.stopPropagation();
      close();
    };
    addEventListener("scroll", close, { capture: true, passive: true });
    addEventListener("keydown", closeByKey, true);
    return () => {
      removeEventListener("scroll", close, true);
      removeEventListener("keydown", closeByKey, true);
    };
  }, [isOpen]);
  useEffect(() => () => clearTimeout(leaving.current), []);
  return (
    <span class="definition" onPointerEnter={enter} onPointerLeave={leave}>
      <button
        ref={button}
        type="button"
        class={isWord ? "definition-button definition-word" : "definition-button"}
        aria-label={isWord ? undefined : `What is ${of}?`}
        aria-describedby={isOpen ? id : undefined}
        onFocus={enter}
        onBlur={() => setOpen(false)}
        onClick={enter}
      >
        {isWord ? of : "i"}
      </button>
      {isOpen && (
        <span ref={bubble} id={id} role="tooltip" class="definition-text tip" popover="manual">
          {text}
        </span>
      )}
    </span>
  );
}
