type Content = Node | string;

/** The page's element with this ID. Throws if there is none, because the page is then broken. */
export function byId(id: string): HTMLElement {
  const found = document.querySelector<HTMLElement>(`#${id}`);
  if (found === null) throw new Error(`the page has no element #${id}`);
  return found;
}

/** Creates an element with attributes and content. Strings become text, never markup. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>> = {},
  ...content: Content[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
}

/** Creates an SVG element with attributes and content. */
export function svgElement<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string | number>> = {},
  ...content: Content[]
): SVGElementTagNameMap[K] {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...content);
  return made;
}

/** Creates a button. */
export function button(
  attributes: Readonly<Record<string, string>>,
  onClick: () => void,
  ...content: Content[]
): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, ...content);
  made.addEventListener('click', onClick);
  return made;
}
