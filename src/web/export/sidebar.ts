import { button, element } from '../element.ts';
import type { Filter } from './session/tree-rows.ts';

interface Listener {
  readonly onSearch: (text: string) => void;
  readonly onStep: (by: 1 | -1) => void;
  readonly onFilter: (filter: Filter) => void;
}

const filterNames: Readonly<Record<Filter, string>> = {
  default: 'Conversation',
  'no-tools': 'Without tools',
  'user-only': 'Questions only',
  all: 'Everything',
};

/** The bar beside the conversation: the search above, the outline below. */
export class Sidebar {
  readonly scroller = element('div', { class: 'scroller' });
  readonly place: HTMLElement;
  readonly #count = element('output', { class: 'count', attributes: { 'aria-live': 'polite' } });
  readonly #field = element('input', {
    attributes: { type: 'search', placeholder: 'Search', 'aria-label': 'Search the session', spellcheck: 'false' },
  });

  constructor({ onSearch, onStep, onFilter }: Listener) {
    this.#field.addEventListener('input', () => onSearch(this.#field.value));
    this.#field.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') onStep(event.shiftKey ? -1 : 1);
    });
    const filter = element(
      'select',
      { attributes: { 'aria-label': 'What the outline shows' } },
      ...Object.entries(filterNames).map(([value, name]) => element('option', { attributes: { value } }, name)),
    );
    filter.addEventListener('change', () => onFilter(filter.value as Filter));
    const steps = element(
      'div',
      { class: 'steps' },
      filter,
      this.#count,
      button('↑', { class: 'icon', name: 'Previous hit', onClick: () => onStep(-1) }),
      button('↓', { class: 'icon', name: 'Next hit', onClick: () => onStep(1) }),
    );
    const outline = element('nav', { attributes: { 'aria-label': 'Outline' } }, this.scroller);
    this.place = element('aside', { class: 'sidebar' }, element('search', {}, this.#field, steps), outline);
  }

  /** Says how many were found. */
  tell(words: string): void {
    this.#count.textContent = words;
  }

  focus(): void {
    this.#field.focus();
    this.#field.select();
  }
}
