/** Copies a text to the clipboard and returns whether it succeeded. `trigger`: the clicked element, which may be inside a dialog. */
export async function copyText(text: string, trigger?: Element | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyWithSelection(text, trigger?.parentElement ?? document.body);
  }
}

/** Pages from disk or without a secure connection have no clipboard API. */
function copyWithSelection(text: string, container: Element): boolean {
  const focused = document.activeElement;
  const field = document.createElement('textarea');
  field.className = 'off-screen';
  field.value = text;
  // Elements outside an open dialog cannot be selected.
  container.append(field);
  field.select();
  try {
    return document.execCommand('copy');
  } finally {
    field.remove();
    if (focused instanceof HTMLElement) focused.focus();
  }
}
