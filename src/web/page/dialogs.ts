import type { OpenDialog } from '../../client/shown.ts';
import type { ExtensionUiResponse } from '../../protocol/generated/vocabulary.ts';
import { plainText } from '../code/plain-text.ts';
import { button, element } from '../element.ts';

type Answer = Pick<ExtensionUiResponse, 'value' | 'confirmed' | 'cancelled'>;

/** Questions of extensions, each in a form of its own until it is answered here or elsewhere. */
export class Dialogs {
  readonly place = element('div', { class: 'dialogs' });
  readonly #onAnswer: (id: string, answer: Answer) => void;
  readonly #forms = new Map<string, HTMLElement>();

  constructor(onAnswer: (id: string, answer: Answer) => void) {
    this.#onAnswer = onAnswer;
  }

  draw(dialogs: readonly OpenDialog[]): void {
    const open = new Set(dialogs.map(({ id }) => id));
    for (const [id, form] of this.#forms) {
      if (open.has(id)) continue;
      form.remove();
      this.#forms.delete(id);
    }
    for (const dialog of dialogs) {
      if (this.#forms.has(dialog.id)) continue;
      const form = dialogForm(dialog, (answer) => this.#onAnswer(dialog.id, answer));
      this.#forms.set(dialog.id, form);
      this.place.append(form);
    }
  }
}

function dialogForm(dialog: OpenDialog, answer: (answer: Answer) => void): HTMLElement {
  const cancel = button('Cancel', { onClick: () => answer({ cancelled: true }) });
  const title = element('h2', {}, ...plainText(dialog.title));
  const form = element('form', { class: 'dialog', attributes: { 'aria-label': dialog.title } }, title);
  const choice = (label: string, chosen: Answer, name?: string) =>
    button(element('span', {}, ...plainText(label)), { class: name, onClick: () => answer(chosen) });
  switch (dialog.method) {
    case 'select': {
      const choices = dialog.options.map((value) => choice(value, { value }));
      form.append(element('div', { class: 'choices' }, ...choices), element('div', { class: 'row' }, cancel));
      break;
    }
    case 'confirm': {
      const row = [cancel, choice('No', { confirmed: false }), choice('Yes', { confirmed: true }, 'main')];
      form.append(element('p', {}, ...plainText(dialog.message)), element('div', { class: 'row' }, ...row));
      break;
    }
    default: {
      const field = element(dialog.method === 'editor' ? 'textarea' : 'input', {
        attributes: { 'aria-label': 'Answer' },
      });
      if (dialog.method === 'editor') field.value = dialog.prefill ?? '';
      else field.placeholder = dialog.placeholder ?? '';
      const send = element('button', { class: 'main', attributes: { type: 'submit' } }, 'Answer');
      form.append(field, element('div', { class: 'row' }, cancel, send));
      form.addEventListener('submit', () => answer({ value: field.value }));
    }
  }
  form.addEventListener('submit', (event) => event.preventDefault());
  return form;
}
