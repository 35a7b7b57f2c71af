/// <reference lib="dom" />
import { useLayoutEffect, useState } from "preact/hooks";

/**
 * The text of a field that is being edited. It becomes `value` when that, or what `follows` names, changes,
 * before anything more can be typed: an effect after the paint could undo a letter typed before it.
 */
export function useTypedText(
  value: string,
  ...follows: readonly unknown[]
): [string, (text: string) => void] {
  const [text, setText] = useState(value);
  useLayoutEffect(() => setText(value), [value, ...follows]);
  return [text, setText];
}
