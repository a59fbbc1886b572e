import { button, element } from './element.ts';
import type { OutlineFilter } from './session/outline-rows.ts';

interface SidebarCallbacks {
  readonly onSearch: (text: string) => void;
  readonly onStep: (by: 1 | -1) => void;
  readonly onFilter: (filter: OutlineFilter) => void;
}

const filterNames: Readonly<Record<OutlineFilter, string>> = {
  default: 'Conversation',
  'no-tools': 'Without tools',
  'user-only': 'Questions only',
  all: 'Everything',
};

/** The sidebar with the search field and the outline. */
export class Sidebar {
  readonly scroller = element('div', { class: 'scroller' });
  readonly node: HTMLElement;
  readonly #count = element('output', { class: 'count', attributes: { 'aria-live': 'polite' } });
  readonly #field = element('input', {
    attributes: { type: 'search', placeholder: 'Search', 'aria-label': 'Search the session', spellcheck: 'false' },
  });

  constructor({ onSearch, onStep, onFilter }: SidebarCallbacks) {
    this.#field.addEventListener('input', () => onSearch(this.#field.value));
    this.#field.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') onStep(event.shiftKey ? -1 : 1);
    });
    const filter = element(
      'select',
      { attributes: { 'aria-label': 'What the outline shows' } },
      ...Object.entries(filterNames).map(([value, name]) => element('option', { attributes: { value } }, name)),
    );
    filter.addEventListener('change', () => onFilter(filter.value as OutlineFilter));
    const steps = element(
      'div',
      { class: 'steps' },
      filter,
      this.#count,
      button('↑', { class: 'icon', name: 'Previous hit', onClick: () => onStep(-1) }),
      button('↓', { class: 'icon', name: 'Next hit', onClick: () => onStep(1) }),
    );
    const outline = element('nav', { attributes: { 'aria-label': 'Outline' } }, this.scroller);
    this.node = element('aside', { class: 'sidebar' }, element('search', {}, this.#field, steps), outline);
  }

  showCount(text: string): void {
    this.#count.textContent = text;
  }

  focus(): void {
    this.#field.focus();
    this.#field.select();
  }
}
