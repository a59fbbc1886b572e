type Child = Node | string | undefined | false;

interface Properties {
  readonly class?: string | undefined;
  /** Any other attribute. Nothing that a session says becomes the name of one. */
  readonly attributes?: Readonly<Record<string, string | undefined>>;
  readonly onClick?: ((event: MouseEvent) => void) | undefined;
}

/** Makes an element. Text stays text: there is no way from a string to markup. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (properties.class) made.className = properties.class;
  for (const [name, value] of Object.entries(properties.attributes ?? {})) {
    if (value !== undefined) made.setAttribute(name, value);
  }
  const { onClick } = properties;
  if (onClick) made.addEventListener('click', onClick as EventListener);
  for (const child of children) if (child) made.append(child);
  return made;
}

/** A button with a word on it, or a picture that has a name. */
export function button(
  label: Child,
  { name, ...properties }: Properties & { readonly name?: string },
): HTMLButtonElement {
  const attributes = { type: 'button', 'aria-label': name, title: name, ...properties.attributes };
  return element('button', { ...properties, attributes }, label);
}
