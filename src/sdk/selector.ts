/// <reference lib="dom" />

const STEPS_MAX = 5;
const LENGTH_MAX = 200;
/** Written by a person: frameworks number theirs. */
const STABLE_ID = /^(?!.*\d{3})[a-z][\w-]*$/i;

/** A selector that survives changes elsewhere: up to the next stable id, without a text or value. */
export function selectorOf(element: Element, stepsMax = STEPS_MAX): string {
  const id = element.getAttribute("id") ?? "";
  if (STABLE_ID.test(id)) return `#${id}`.slice(0, LENGTH_MAX);
  const { localName, parentElement } = element;
  // A form has its fields under their names, one of which may be `children`.
  const alike = [...(parentElement?.childNodes as NodeListOf<Element> | undefined) ?? []]
    .filter((one) => one.localName === localName);
  const step = alike[1] ? `${localName}:nth-of-type(${alike.indexOf(element) + 1})` : localName;
  const above = parentElement && --stepsMax ? `${selectorOf(parentElement, stepsMax)} > ` : "";
  return (above + step).slice(0, LENGTH_MAX);
}
