/// <reference lib="dom" />

const STEPS_MAX = 5;
const LENGTH_MAX = 200;
/** Written by a person: frameworks number theirs. */
const STABLE_ID = /^(?!.*\d{3})[a-z][\w-]*$/i;

/** A selector that survives changes elsewhere: up to the next stable id, without a text or value. */
export function selectorOf(element: Element): string {
  const steps: string[] = [];
  for (let node: Element | null = element; node && steps.length < STEPS_MAX;) {
    const id = node.getAttribute("id") ?? "";
    if (STABLE_ID.test(id)) {
      steps.unshift(`#${id}`);
      break;
    }
    const { localName, parentElement }: Element = node;
    // A form has its fields under their names, one of which may be `children`.
    const alike = [...(parentElement?.childNodes as NodeListOf<Element> | undefined) ?? []]
      .filter((one) => one.localName === localName);
    steps.unshift(
      alike.length > 1 ? `${localName}:nth-of-type(${alike.indexOf(node) + 1})` : localName,
    );
    node = parentElement;
  }
  return steps.join(" > ").slice(0, LENGTH_MAX);
}
