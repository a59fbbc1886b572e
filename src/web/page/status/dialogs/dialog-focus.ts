import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** The shortcut that focuses the first dialog. */
export const DIALOG_KEYS = 'Mod+J';

/** Focuses the first dialog. */
export const focusFirstDialog = (): void => focusFirstField(document.querySelector('.dialog'));

interface DialogFocus {
  // Records that a dialog was answered here.
  readonly onAnswered: (id: string) => void;
  // Records where the focus came from.
  readonly onFocusIn: (event: FocusEvent) => void;
}

/**
 * Moves the focus from an answered dialog to the next one that the user has seen, and back at the end. A dialog that
 * appears or disappears by itself moves no focus: keys being typed are not meant for it. A dialog that is sent again
 * after a reconnect gets its focus back.
 */
export function useDialogFocus(container: RefObject<HTMLElement | null>, ids: readonly string[]): DialogFocus {
  const knownIds = useRef<readonly string[]>([]);
  const origin = useRef<EventTarget | null>(null);
  const answered = useRef<string>(undefined);
  const lost = useRef<string>(undefined);
  const at = [...(container.current?.children ?? [])].findIndex((form) => form.contains(document.activeElement));
  useLayoutEffect(() => {
    const before = knownIds.current;
    const removed = before[at];
    knownIds.current = ids;
    if (document.activeElement !== document.body) return;
    if (removed === undefined || removed !== answered.current) {
      lost.current = removed ?? lost.current;
      focusFirstField(container.current?.children[ids.indexOf(lost.current ?? '')]);
      return;
    }
    const next = ids.findIndex((id) => before.includes(id));
    if (next >= 0) focusFirstField(container.current?.children[next]);
    else if (origin.current instanceof HTMLElement) origin.current.focus();
  }, [ids.join(' ')]);
  return {
    onAnswered: (id) => {
      answered.current = id;
    },
    onFocusIn: ({ relatedTarget }) => {
      // The focus comes from nowhere when it moves on from an answered dialog.
      if (relatedTarget instanceof Node && !container.current?.contains(relatedTarget)) origin.current = relatedTarget;
    },
  };
}

/** Focuses the first control of a dialog, with the caret at the end of its text. */
function focusFirstField(container: Element | null | undefined): void {
  const first = container?.querySelector<HTMLElement>('.choices button:enabled, input:enabled, textarea:enabled');
  first?.focus();
  if (first instanceof HTMLInputElement || first instanceof HTMLTextAreaElement)
    first.setSelectionRange(first.value.length, first.value.length);
}
