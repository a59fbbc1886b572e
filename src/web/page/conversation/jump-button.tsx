import type { ReadonlySignal } from '@preact/signals';
import { useSignal, useSignalEffect } from '@preact/signals';
import { Icon } from '../icons.tsx';
import type { ListWindow } from './list/list-window.ts';
import type { Keyed } from './list/measured-rows.ts';

interface JumpButtonProps<R extends Keyed> {
  readonly window: ListWindow<R>;
  readonly rows: ReadonlySignal<readonly R[]>;
}

/** Scrolls to the end when that is out of sight; a mark shows new messages. */
export function JumpButton<R extends Keyed>({ window, rows }: JumpButtonProps<R>) {
  const seen = useSignal<number | undefined>(undefined);
  useSignalEffect(() => {
    const last = rows.value.at(-1)?.key;
    if (window.isFollowing.value) seen.value = last;
  });
  if (!window.isEndHidden.value) return null;
  const hasNew = rows.value.at(-1)?.key !== seen.value;
  return (
    <button
      type="button"
      class={`jump ${hasNew ? 'new' : ''}`}
      aria-label={hasNew ? 'Jump to latest: something new' : 'Jump to latest'}
      title="Jump to latest"
      onClick={() => {
        window.toEnd();
        // The button is about to disappear.
        window.scroller?.focus({ preventScroll: true });
      }}
    >
      <Icon name="end" />
    </button>
  );
}
