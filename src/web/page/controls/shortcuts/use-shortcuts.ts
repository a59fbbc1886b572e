import { useEffect } from 'preact/hooks';
import { focusMessage } from '../../composer/focus-message.ts';
import { isComposing } from '../../ime.ts';
import type { App } from '../../state/app.ts';
import { keyboard } from './keyboard.ts';
import { isPressed } from './keys.ts';
import { shortcuts } from './shortcuts.ts';

/** Runs shortcuts, unless an overlay is open or the user types in a field. */
export function useShortcuts(app: App): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || isComposing(event) || isCovered()) return;
      const isTyping = isField(event.target);
      const found = shortcuts.find(
        ({ keys, run, needs, isOffered, alsoWhileTyping }) =>
          run &&
          (alsoWhileTyping || !isTyping) &&
          (!needs || app.may(needs)) &&
          isPressed(keys, event, keyboard) &&
          (!isOffered || isOffered(app)),
      );
      if (found) {
        event.preventDefault();
        found.run?.(app);
      } else if (isLetter(event) && isUnfocused(event.target)) focusMessage();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [app]);
}

const isLetter = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent) =>
  key.length === 1 && key !== ' ' && !ctrlKey && !metaKey && !altKey;

/** Whether the target takes no keys: typing then goes to the message box. */
const isUnfocused = (target: EventTarget | null) =>
  target === document.body || (target instanceof Element && target.matches('.list'));

const isCovered = () => document.querySelector('dialog:modal, :popover-open') !== null;

const isField = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('textarea, select, input:not([type=checkbox], [type=radio])'));
