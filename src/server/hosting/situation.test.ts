import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ExtensionUiRequestEvent } from '../../protocol/generated/vocabulary.ts';
import { Situation } from './situation.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const asked: ExtensionUiRequestEvent = { type: 'extension_ui_request', id: 'd', method: 'input', title: 'Name?' };

it('tells whoever comes later how much time is left to answer', () => {
  const situation = new Situation();
  const told = () => [...situation.retold()].map(({ event }) => event);
  situation.hear({ ...asked, timeout: 5000 });
  situation.hear({ ...asked, id: 'patient' });

  vi.advanceTimersByTime(2000);
  expect(told()).toEqual([
    { ...asked, timeout: 3000 },
    { ...asked, id: 'patient' },
  ]);
  vi.advanceTimersByTime(9000);
  expect(told()[0]).toEqual({ ...asked, timeout: 0 });
});
