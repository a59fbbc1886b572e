import { visibleParts } from '../code/hidden-characters.ts';

type ElementChild = Node | string | undefined | false;

interface ElementProperties {
  readonly class?: string | undefined;
  // Other attributes. Session data never becomes an attribute name.
  readonly attributes?: Readonly<Record<string, string | undefined>>;
  readonly onClick?: ((event: MouseEvent) => void) | undefined;
}

/** Creates an element. Strings become text nodes, never markup. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: ElementProperties = {},
  ...children: readonly ElementChild[]
): HTMLElementTagNameMap[K] {
  const created = document.createElement(tag);
  if (properties.class) created.className = properties.class;
  for (const [name, value] of Object.entries(properties.attributes ?? {})) {
    if (value !== undefined) created.setAttribute(name, value);
  }
  const { onClick } = properties;
  if (onClick) created.addEventListener('click', onClick as EventListener);
  for (const child of children) if (child) created.append(child);
  return created;
}

/** A button with a text, or with an icon and an accessible name. */
export function button(
  label: ElementChild,
  { name, ...properties }: ElementProperties & { readonly name?: string },
): HTMLButtonElement {
  const attributes = { type: 'button', 'aria-label': name, title: name, ...properties.attributes };
  return element('button', { ...properties, attributes }, label);
}

/** Text nodes with hidden characters shown as their code points. */
export const visibleTextNodes = (text: string): (Node | string)[] =>
  visibleParts(text).map((part) =>
    part.isHidden ? element('span', { class: 'hidden-character' }, part.text) : part.text,
  );
