import { afterEach, expect, it, vi } from 'vitest';
import { SystemNotices } from './system-notices.ts';

afterEach(() => vi.unstubAllGlobals());

/** A browser in which nobody was asked yet; those of phones refuse to make a notice. */
function browser({ isPhone }: { readonly isPhone: boolean }): void {
  vi.stubGlobal('isSecureContext', true);
  vi.stubGlobal(
    'Notification',
    class {
      static readonly permission = 'default';
      constructor() {
        if (isPhone) throw new TypeError('Illegal constructor');
      }
      close(): void {}
    },
  );
}

it('notices of the system are offered where a page can have them, and nowhere else', () => {
  browser({ isPhone: false });
  const desktop = new SystemNotices().isOffered.value;
  browser({ isPhone: true });
  const phone = new SystemNotices().isOffered.value;
  vi.unstubAllGlobals();

  expect([desktop, phone, new SystemNotices().isOffered.value]).toEqual([true, false, false]);
});
