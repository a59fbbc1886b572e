import { afterEach, expect, it, vi } from 'vitest';
import { SystemNotices } from './system-notices.ts';

afterEach(() => vi.unstubAllGlobals());

/** A browser that has not asked for permission; phone browsers refuse to construct a notification. */
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

it('system notices are offered only where a page can show them', () => {
  browser({ isPhone: false });
  const desktop = new SystemNotices().isOffered.value;
  browser({ isPhone: true });
  const phone = new SystemNotices().isOffered.value;
  vi.unstubAllGlobals();

  expect([desktop, phone, new SystemNotices().isOffered.value]).toEqual([true, false, false]);
});
