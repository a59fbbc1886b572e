import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** The keys that lead to the question that was asked first. */
export const QUESTION_KEYS = 'Mod+J';

/** Leads to the question that was asked first. */
export const goToQuestion = (): void => focusFirst(document.querySelector('.dialog'));

interface Leading {
  /** Takes note that a question was answered here. */
  readonly answered: (id: string) => void;
  /** Takes note of where somebody comes from. */
  readonly came: (event: FocusEvent) => void;
}

/**
 * Leads whoever has answered on to the next question that they have seen, and back in the end. Nobody else is led anywhere,
 * neither to a question that comes nor from one that goes by itself: what they type is not meant for what is there then.
 * Only where the same question is asked again, after the connection was lost, it has the focus again.
 */
export function useLeading(place: RefObject<HTMLElement | null>, ids: readonly string[]): Leading {
  const known = useRef<readonly string[]>([]);
  const origin = useRef<EventTarget | null>(null);
  const answered = useRef<string>(undefined);
  const lost = useRef<string>(undefined);
  const at = [...(place.current?.children ?? [])].findIndex((form) => form.contains(document.activeElement));
  useLayoutEffect(() => {
    const before = known.current;
    const left = before[at];
    known.current = ids;
    if (document.activeElement !== document.body) return;
    if (left === undefined || left !== answered.current) {
      lost.current = left ?? lost.current;
      focusFirst(place.current?.children[ids.indexOf(lost.current ?? '')]);
      return;
    }
    const next = ids.findIndex((id) => before.includes(id));
    if (next >= 0) focusFirst(place.current?.children[next]);
    else if (origin.current instanceof HTMLElement) origin.current.focus();
  }, [ids.join(' ')]);
  return {
    answered: (id) => {
      answered.current = id;
    },
    came: ({ relatedTarget }) => {
      if (!(relatedTarget instanceof Node && place.current?.contains(relatedTarget))) origin.current = relatedTarget;
    },
  };
}

/** Gives the focus to the first thing that can be answered with; what is written already is gone on with. */
function focusFirst(place: Element | null | undefined): void {
  const first = place?.querySelector<HTMLElement>('.choices button:enabled, input:enabled, textarea:enabled');
  first?.focus();
  if (first instanceof HTMLInputElement || first instanceof HTMLTextAreaElement)
    first.setSelectionRange(first.value.length, first.value.length);
}
