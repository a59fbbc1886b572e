/** Puts a text into the clipboard; answers whether it is there. `beside`: what was clicked for it, in case it lies in a dialog. */
export async function copy(text: string, beside?: Element | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text, beside?.parentElement ?? document.body);
  }
}

/** For pages that are given no clipboard: those from disk, and those that do not come over a safe connection. */
function copyBySelection(text: string, place: Element): boolean {
  const before = document.activeElement;
  const field = document.createElement('textarea');
  field.className = 'off-screen';
  field.value = text;
  // What is outside an open dialog cannot be selected.
  place.append(field);
  field.select();
  try {
    return document.execCommand('copy');
  } finally {
    field.remove();
    if (before instanceof HTMLElement) before.focus();
  }
}
