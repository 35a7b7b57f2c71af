/// <reference lib="dom" />

const STEPS_MAX = 5;
const LENGTH_MAX = 200;
/** An id written by a person: those that frameworks generate have numbers. */
const STABLE_ID = /^(?!.*\d{3})[a-z][\w-]*$/i;

/** A selector that survives changes elsewhere: up to the next stable id, without a text or value. */
export function selectorOf(element: Element, stepsMax = STEPS_MAX): string {
  const id = element.getAttribute("id") ?? "";
  if (STABLE_ID.test(id)) return `#${id}`.slice(0, LENGTH_MAX);
  const { localName, parentElement } = element;
  // Not `children`: a form's fields shadow its properties by their names.
  const alike = [...(parentElement?.childNodes as NodeListOf<Element> | undefined) ?? []]
    .filter((one) => one.localName === localName);
  const step = alike[1] ? `${localName}:nth-of-type(${alike.indexOf(element) + 1})` : localName;
  const above = parentElement && --stepsMax ? `${selectorOf(parentElement, stepsMax)} > ` : "";
  return (above + step).slice(0, LENGTH_MAX);
}
