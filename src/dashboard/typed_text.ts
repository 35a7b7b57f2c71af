/// <reference lib="dom" />
import { useLayoutEffect, useState } from "preact/hooks";

/**
 * The text of a field under the person's hands. It becomes `value` where that changes, or what else
 * `follows` names, before anything more can be typed: an effect after the paint would undo a letter
 * that came first.
 */
export function useTypedText(
  value: string,
  ...follows: readonly unknown[]
): [string, (text: string) => void] {
  const [text, setText] = useState(value);
  useLayoutEffect(() => setText(value), [value, ...follows]);
  return [text, setText];
}
