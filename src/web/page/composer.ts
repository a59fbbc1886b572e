import { button, element } from '../element.ts';

interface ComposerOptions {
  /** Rejects when the message was not taken. */
  readonly onSend: (text: string) => Promise<void>;
  readonly onStop: () => void;
}

/** The box that messages are written in. Enter sends, also into a run; Shift and Enter begin a new line. */
export class Composer {
  readonly place = element('form', { class: 'composer' });
  readonly #box = element('textarea', {
    attributes: { rows: '1', 'aria-label': 'Message', enterkeyhint: 'send', autofocus: '' },
  });
  readonly #send = element('button', { class: 'main', attributes: { type: 'submit' } }, 'Send');
  readonly #stop: HTMLButtonElement;
  readonly #options: ComposerOptions;

  constructor(options: ComposerOptions) {
    this.#options = options;
    this.#stop = button('Stop', { class: 'stop', onClick: options.onStop });
    this.place.append(this.#box, this.#stop, this.#send);
    this.place.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#box.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#submit();
    });
    this.draw({ isRunning: false });
  }

  set text(text: string) {
    this.#box.value = text;
  }

  draw({ isRunning }: { readonly isRunning: boolean }): void {
    this.#stop.hidden = !isRunning;
    this.#send.textContent = isRunning ? 'Steer' : 'Send';
    this.#box.placeholder = isRunning ? 'Add something' : 'What is to be done?';
  }

  #submit(): void {
    const text = this.#box.value;
    if (text.trim() === '') return;
    this.#box.value = '';
    this.#options.onSend(text).catch(() => {
      // What was written meanwhile is worth more.
      if (this.#box.value === '') this.#box.value = text;
    });
  }
}
