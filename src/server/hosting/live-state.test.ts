import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ExtensionUiRequestEvent } from '../../protocol/generated/vocabulary.ts';
import { LiveState } from './live-state.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const dialog: ExtensionUiRequestEvent = { type: 'extension_ui_request', id: 'd', method: 'input', title: 'Name?' };

it('a late client gets the remaining timeout of a dialog', () => {
  const liveState = new LiveState();
  const events = () => [...liveState.toEvents()].map(({ event }) => event);
  liveState.apply({ ...dialog, timeout: 5000 });
  liveState.apply({ ...dialog, id: 'patient' });

  vi.advanceTimersByTime(2000);
  expect(events()).toEqual([
    { ...dialog, timeout: 3000 },
    { ...dialog, id: 'patient' },
  ]);
  vi.advanceTimersByTime(9000);
  expect(events()[0]).toEqual({ ...dialog, timeout: 0 });
});
