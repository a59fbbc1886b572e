import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { UiNotice } from '../../../client/view/extension-ui.ts';
import { Icon } from '../icons.tsx';
import { useSession } from '../state/app.ts';
import { isVisible } from '../state/visibility.ts';
import { Offer } from './offer.tsx';
import { Shortened } from './shortened.tsx';

/** How long something stays that nobody has to act upon; errors stay until they are dismissed. */
const STAY_MS: Readonly<Partial<Record<UiNotice['kind'], number>>> = { info: 6000, warning: 15_000 };

/** What there is to be told. It waits while somebody points at it, and while nobody looks. */
export function Toasts() {
  const { notices } = useSession();
  const isHeld = useSignal(false);
  const { shown, more } = notices.open.value;
  const hold = (held: boolean) => () => {
    isHeld.value = held;
  };
  return (
    <section
      class="toasts"
      aria-label="Notices"
      onMouseEnter={hold(true)}
      onMouseLeave={hold(false)}
      onFocusIn={hold(true)}
      onFocusOut={hold(false)}
    >
      <Offer />
      {more > 0 && (
        <p class="toasts-more note">
          {more} more
          <button type="button" class="quiet" onClick={() => notices.dismissAll()}>
            Dismiss all
          </button>
        </p>
      )}
      {shown.map((notice) => (
        <Toast
          key={notices.numberOf(notice)}
          notice={notice}
          isWaiting={isHeld.value || !isVisible.value}
          onDismiss={() => notices.dismiss(notice)}
        />
      ))}
    </section>
  );
}

interface ToastProps {
  readonly notice: UiNotice;
  readonly isWaiting: boolean;
  readonly onDismiss: () => void;
}

function Toast({ notice: { kind, text }, isWaiting, onDismiss }: ToastProps) {
  useEffect(() => {
    const stayMs = STAY_MS[kind];
    if (stayMs === undefined || isWaiting) return undefined;
    const timer = setTimeout(onDismiss, stayMs);
    return () => clearTimeout(timer);
  }, [isWaiting]);
  return (
    <div class={`toast ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
      <Icon name={kind === 'info' ? 'info' : 'alert'} />
      <p>
        <Shortened text={text} />
      </p>
      <button type="button" class="quiet icon-only" aria-label="Dismiss" onClick={onDismiss}>
        <Icon name="close" />
      </button>
    </div>
  );
}
