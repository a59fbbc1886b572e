/** What the box that messages are written in is found by. */
export const MESSAGE_BOX = '.message-box';

/** Lets somebody write a message. */
export function focusMessage(): void {
  document.querySelector<HTMLElement>(MESSAGE_BOX)?.focus();
}
