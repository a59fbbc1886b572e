import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ScreenNotice } from '../../../client/view/extension-ui.ts';
import { Icon } from '../icons.tsx';
import { useApp, useSession } from '../state/app.ts';
import { isVisible } from '../state/browser-signals.ts';
import type { Notice } from '../state/notices.ts';
import { ClippedText } from './extension-status.tsx';
import { useAfterDelay } from './use-after-delay.ts';
import { WaitingNotice } from './waiting-notice.tsx';

// Errors stay until they are dismissed.
const TOAST_MS: Readonly<Partial<Record<ScreenNotice['kind'], number>>> = { info: 6000, warning: 15_000 };

// A notice with a button stays long enough to decide.
const ACTION_TOAST_MS = 15_000;

/** Shows notices. Their timeout pauses while the user points at them and while the tab is hidden. */
export function Toasts() {
  const { notices } = useSession();
  const isPaused = useSignal(false);
  const { shown, more } = notices.open.value;
  const setPaused = (paused: boolean) => () => {
    isPaused.value = paused;
  };
  return (
    <section
      class="toasts"
      aria-label="Notices"
      onMouseEnter={setPaused(true)}
      onMouseLeave={setPaused(false)}
      onFocusIn={setPaused(true)}
      onFocusOut={setPaused(false)}
    >
      <WaitingNotice />
      <NotificationOffer />
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
          key={notices.keyOf(notice)}
          notice={notice}
          isPaused={isPaused.value || !isVisible.value}
          onDismiss={() => notices.dismiss(notice)}
        />
      ))}
    </section>
  );
}

interface ToastProps {
  readonly notice: Notice;
  readonly isPaused: boolean;
  readonly onDismiss: () => void;
}

function Toast({ notice: { kind, text, url, action }, isPaused, onDismiss }: ToastProps) {
  useEffect(() => {
    const durationMs = action ? ACTION_TOAST_MS : TOAST_MS[kind];
    // An address is needed until the user has come back.
    if (durationMs === undefined || isPaused || url !== undefined) return undefined;
    const timer = setTimeout(onDismiss, durationMs);
    return () => clearTimeout(timer);
  }, [isPaused]);
  return (
    <div class={`toast ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
      <Icon name={kind === 'info' ? 'info' : 'alert'} />
      <p>
        <ClippedText text={text} />
      </p>
      {url !== undefined && (
        <a href={url} target="_blank" rel="noopener noreferrer">
          Open
        </a>
      )}
      {action && (
        <button
          type="button"
          onClick={() => {
            onDismiss();
            action.onSelect();
          }}
        >
          {action.label}
        </button>
      )}
      <button type="button" class="quiet icon-only" aria-label="Dismiss" onClick={onDismiss}>
        <Icon name="close" />
      </button>
    </div>
  );
}

// A run of this length may be worth a notification.
const NOTIFICATION_OFFER_DELAY_MS = 20_000;

/** Offers system notices once, during a long run. */
function NotificationOffer() {
  const { systemNotices } = useApp().attention;
  const { view, connection } = useSession();
  const isRunning = useComputed(() => view.value.running && connection.value.state === 'open');
  return isRunning.value && systemNotices.isOffered.value ? <DelayedOffer /> : null;
}

function DelayedOffer() {
  const { systemNotices } = useApp().attention;
  if (!useAfterDelay(NOTIFICATION_OFFER_DELAY_MS)) return null;
  return (
    <div class="toast offer">
      <Icon name="bell" />
      <button type="button" onClick={() => void systemNotices.accept()}>
        Tell me when it is done
      </button>
      <button type="button" class="quiet icon-only" aria-label="No, thanks" onClick={() => systemNotices.decline()}>
        <Icon name="close" />
      </button>
    </div>
  );
}
