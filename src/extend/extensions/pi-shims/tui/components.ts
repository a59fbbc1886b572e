import { truncateToWidth, wrapTextWithAnsi } from './text.ts';

/** A component that is never shown. */
export class Component {
  render(_width: number): string[] {
    return [];
  }

  invalidate(): void {}

  handleInput(_data: string): void {}
}

export class Container extends Component {
  readonly children: Component[] = [];

  addChild(child: Component): void {
    this.children.push(child);
  }

  removeChild(child: Component): void {
    const at = this.children.indexOf(child);
    if (at !== -1) this.children.splice(at, 1);
  }

  clear(): void {
    this.children.length = 0;
  }

  override render(width: number): string[] {
    return this.children.flatMap((child) => child.render(width));
  }
}

export class Box extends Container {
  setBgFn(): void {}
}

export class Text extends Component {
  #text: string;

  constructor(text = '') {
    super();
    this.#text = text;
  }

  setText(text: string): void {
    this.#text = text;
  }

  setCustomBgFn(): void {}

  override render(width: number): string[] {
    return this.#text.trim() === '' ? [] : wrapTextWithAnsi(this.#text, width);
  }
}

export class Markdown extends Text {}

export class TruncatedText extends Component {
  readonly #text: string;

  constructor(text = '') {
    super();
    this.#text = text;
  }

  override render(width: number): string[] {
    return [truncateToWidth(this.#text.split('\n')[0] ?? '', width)];
  }
}

export class Spacer extends Component {
  #lines: number;

  constructor(lines = 1) {
    super();
    this.#lines = lines;
  }

  setLines(lines: number): void {
    this.#lines = lines;
  }

  override render(): string[] {
    return Array.from({ length: this.#lines }, () => '');
  }
}

export class Input extends Component {
  #value = '';

  getValue(): string {
    return this.#value;
  }

  setValue(value: string): void {
    this.#value = value;
  }
}

export class Editor extends Component {
  #text = '';

  getText(): string {
    return this.#text;
  }

  getExpandedText(): string {
    return this.#text;
  }

  getLines(): string[] {
    return this.#text.split('\n');
  }

  setText(text: string): void {
    this.#text = text;
  }

  insertTextAtCursor(text: string): void {
    this.#text += text;
  }

  addToHistory(): void {}

  setAutocompleteProvider(): void {}

  isShowingAutocomplete(): boolean {
    return false;
  }
}

/** A list whose first item counts as selected. */
export class SelectList extends Component {
  readonly #items: readonly unknown[];

  constructor(items: readonly unknown[] = []) {
    super();
    this.#items = items;
  }

  setFilter(): void {}

  setSelectedIndex(): void {}

  getSelectedItem(): unknown {
    return this.#items[0] ?? null;
  }
}

export class SettingsList extends Component {
  updateValue(): void {}
}

export class Loader extends Text {
  start(): void {}

  stop(): void {}

  setMessage(message: string): void {
    this.setText(message);
  }
}

export class CancellableLoader extends Loader {
  readonly #controller = new AbortController();
  readonly signal: AbortSignal = this.#controller.signal;
  readonly aborted = false;

  dispose(): void {}
}
