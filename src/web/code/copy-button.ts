import { button, element } from '../element.ts';

const SHOWN_MS = 1500;

/** A button that puts a text into the clipboard, and says so. */
export function copyButton(text: () => string, name = 'Copy'): HTMLButtonElement {
  const made = button(name, {
    class: 'copy',
    onClick: () => {
      void copy(text()).then((copied) => {
        made.textContent = copied ? 'Copied' : 'Not copied';
        setTimeout(() => {
          made.textContent = name;
        }, SHOWN_MS);
      });
    },
  });
  return made;
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** For browsers that give no clipboard to pages from disk. */
function copyBySelection(text: string): boolean {
  const field = element('textarea', { class: 'off-screen' });
  field.value = text;
  document.body.append(field);
  field.select();
  try {
    return document.execCommand('copy');
  } finally {
    field.remove();
  }
}
