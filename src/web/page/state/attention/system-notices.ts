import { computed, signal } from '@preact/signals';
import { recall, remember } from '../../../remembered.ts';

/** Kept in the browser of somebody who does not want to be told by the system. */
const DECLINED_KEY = 'tau-notify-declined';

/** Notices of the system, outside of the page. Nobody is asked for them before they were offered and accepted. */
export class SystemNotices {
  readonly #permission = signal(currentPermission());
  readonly #isDeclined = signal(recall(DECLINED_KEY) !== undefined);
  /** Whether they could be had, and nobody has said yes or no to them. */
  readonly isOffered = computed(() => this.#permission.value === 'default' && !this.#isDeclined.value && canRequestPermission());

  async accept(): Promise<void> {
    this.#permission.value = await Notification.requestPermission();
  }

  decline(): void {
    this.#isDeclined.value = true;
    remember(DECLINED_KEY, 'yes');
  }

  /** `topic`: one notice takes the place of another one about the same. A click leads to this tab. */
  show({ title, body, topic }: { readonly title: string; readonly body: string; readonly topic: string }): void {
    if (currentPermission() !== 'granted') return;
    try {
      const notice = new Notification(title, { body, tag: topic });
      notice.onclick = () => {
        focus();
        notice.close();
      };
    } catch {
      // Phones have them only for pages that are installed.
    }
  }
}

/**
 * Phones have them only for pages that are installed, and refuse to make one even while nobody was asked. Elsewhere one that
 * is made then is not shown, and asks for nothing.
 */
function canRequestPermission(): boolean {
  if (currentPermission() !== 'default') return false;
  try {
    new Notification('tau').close();
    return true;
  } catch {
    return false;
  }
}

const currentPermission = (): NotificationPermission =>
  typeof Notification === 'undefined' || !isSecureContext ? 'denied' : Notification.permission;
