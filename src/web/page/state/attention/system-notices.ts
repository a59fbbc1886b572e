import { computed, signal } from '@preact/signals';
import { readStored, writeStored } from '../../../browser-storage.ts';

// Set in browsers whose user declined system notices.
const DECLINED_KEY = 'tau-notify-declined';

/** System notices outside the page. The browser asks for permission only after the user accepted the offer. */
export class SystemNotices {
  readonly #permission = signal(currentPermission());
  readonly #isDeclined = signal(readStored(DECLINED_KEY) !== undefined);
  /** Whether permission can be requested and the user has neither accepted nor declined. */
  readonly isOffered = computed(
    () => this.#permission.value === 'default' && !this.#isDeclined.value && canRequestPermission(),
  );

  async accept(): Promise<void> {
    this.#permission.value = await Notification.requestPermission();
  }

  decline(): void {
    this.#isDeclined.value = true;
    writeStored(DECLINED_KEY, 'yes');
  }

  /** Shows a notice that replaces an earlier one with the same `topic`. A click focuses this tab. */
  show({ title, body, topic }: { readonly title: string; readonly body: string; readonly topic: string }): void {
    if (currentPermission() !== 'granted') return;
    try {
      const notice = new Notification(title, { body, tag: topic });
      notice.onclick = () => {
        focus();
        notice.close();
      };
    } catch {
      // Phones allow notices only for installed pages.
    }
  }
}

/**
 * Phones throw when a notice is constructed, even before permission was requested. Other browsers construct one without
 * showing it.
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
