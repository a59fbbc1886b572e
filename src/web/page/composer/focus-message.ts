/** The selector of the message box. */
export const MESSAGE_BOX = '.message-box';

/** Focuses the message box. */
export function focusMessage(): void {
  document.querySelector<HTMLElement>(MESSAGE_BOX)?.focus();
}
