import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** The keys that lead to the question that was asked first. */
export const DIALOG_KEYS = 'Mod+J';

/** Leads to the question that was asked first. */
export const focusFirstDialog = (): void => focusFirstField(document.querySelector('.dialog'));

interface DialogFocus {
  /** Takes note that a question was answered here. */
  readonly onAnswered: (id: string) => void;
  /** Takes note of where somebody comes from. */
  readonly onFocusIn: (event: FocusEvent) => void;
}

/**
 * Leads whoever has answered on to the next question that they have seen, and back in the end. Nobody else is led anywhere,
 * neither to a question that comes nor from one that goes by itself: what they type is not meant for what is there then.
 * Only where the same question is asked again, after the connection was lost, it has the focus again.
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
      if (!(relatedTarget instanceof Node && container.current?.contains(relatedTarget))) origin.current = relatedTarget;
    },
  };
}

/** Gives the focus to the first thing that can be answered with; what is written already is gone on with. */
function focusFirstField(container: Element | null | undefined): void {
  const first = container?.querySelector<HTMLElement>('.choices button:enabled, input:enabled, textarea:enabled');
  first?.focus();
  if (first instanceof HTMLInputElement || first instanceof HTMLTextAreaElement)
    first.setSelectionRange(first.value.length, first.value.length);
}
