import { element } from '../element.ts';

/** A place whose content is made anew only when something that it is made from has changed. */
export class Slot {
  readonly place: HTMLElement;
  #from: readonly unknown[] | undefined;

  constructor(name: string) {
    this.place = element('div', { class: name });
  }

  /** Compares by identity. What the reader has unfolded stays so. */
  draw(from: readonly unknown[], make: () => readonly (Node | string)[]): void {
    if (this.#from?.length === from.length && this.#from.every((part, at) => part === from[at])) return;
    this.#from = from;
    const before = [...this.place.querySelectorAll('details')].map(({ open }) => open);
    this.place.replaceChildren(...make());
    for (const [at, details] of this.place.querySelectorAll('details').entries()) details.open = before[at] ?? false;
  }
}
