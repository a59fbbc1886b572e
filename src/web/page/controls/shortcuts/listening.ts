import { useEffect } from 'preact/hooks';
import type { App } from '../../state/app.ts';
import { isPressed, type Keyboard } from './keys.ts';
import { shortcuts } from './shortcuts.ts';

/** The keyboard that is typed on, as far as can be told. */
export const keyboard: Keyboard = /mac|iphone|ipad/i.test(navigator.platform) ? 'mac' : 'other';

/** Does what shortcuts stand for, unless something lies over the page or somebody types. */
export function useShortcuts(app: App): void {
  useEffect(() => {
    const hear = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || isCovered()) return;
      const isTyping = isField(event.target);
      const found = shortcuts.find(
        ({ keys, run, needs, isOffered, alsoWhileTyping }) =>
          run &&
          (alsoWhileTyping || !isTyping) &&
          (!needs || app.may(needs)) &&
          isPressed(keys, event, keyboard) &&
          (!isOffered || isOffered(app)),
      );
      if (!found) return;
      event.preventDefault();
      found.run?.(app);
    };
    addEventListener('keydown', hear);
    return () => removeEventListener('keydown', hear);
  }, [app]);
}

const isCovered = () => document.querySelector('dialog:modal, :popover-open') !== null;

const isField = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('textarea, select, input:not([type=checkbox], [type=radio])'));
