import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ABSENCE_MS } from '../../protocol/dialog-methods.ts';
import type { ExtensionUiRequestEvent } from '../../protocol/generated/vocabulary.ts';
import { agentUiMethods } from './client-preferences.ts';
import { DialogTimeouts } from './dialog-timeouts.ts';
import { RecordingSubscriber } from './testing/recording-subscriber.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const dialog: ExtensionUiRequestEvent = { type: 'extension_ui_request', id: 'd', method: 'input', title: 'Name?' };
const dialogs = new Map([['d', dialog]]);

const subscriber = (more: Partial<RecordingSubscriber> = {}) => Object.assign(new RecordingSubscriber(), more);

function newTimeouts() {
  const timedOut: string[] = [];
  return { calledOff: timedOut, desk: new DialogTimeouts((id) => timedOut.push(id)) };
}

it('a dialog that no client can show times out after ten minutes', () => {
  const { desk: one, calledOff: timedOut } = newTimeouts();
  one.update(dialogs, new Set());
  vi.advanceTimersByTime(ABSENCE_MS - 1);
  expect(timedOut).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(timedOut).toEqual(['d']);
});

it('a question about a tool call times out after its own time', () => {
  const { desk: one, calledOff: timedOut } = newTimeouts();
  const asked = (id: string, waitMs: unknown) => [id, { ...dialog, id, approval: { waitMs } }] as const;
  const odd = [-1, '5', null, Number.NaN].map((waitMs, index) => asked(`odd${index}`, waitMs));
  one.update(new Map([asked('soon', 1000), asked('late', Number.MAX_SAFE_INTEGER), ...odd]), new Set());

  vi.advanceTimersByTime(999);
  expect(timedOut).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(timedOut).toEqual(['soon']);
  vi.advanceTimersByTime(ABSENCE_MS - 1000);
  expect(timedOut).toEqual(['soon', 'odd0', 'odd1', 'odd2', 'odd3']);
  one.close();
});

it('a client that can show the dialog resets its timeout', () => {
  const { desk: one, calledOff: timedOut } = newTimeouts();
  one.update(dialogs, new Set());
  vi.advanceTimersByTime(ABSENCE_MS - 1);
  one.update(dialogs, new Set([subscriber()]));
  vi.advanceTimersByTime(ABSENCE_MS);
  one.update(dialogs, new Set());
  vi.advanceTimersByTime(ABSENCE_MS - 1);
  expect(timedOut).toEqual([]);
});

it('clients that may not answer, or cannot show the dialog, do not stop the timeout', () => {
  const { desk: one, calledOff: timedOut } = newTimeouts();
  one.update(dialogs, new Set([subscriber({ canAnswerDialogs: false }), subscriber({ ui: ['notify'] })]));
  vi.advanceTimersByTime(ABSENCE_MS);
  expect(timedOut).toEqual(['d']);
});

it('a resolved dialog and a close cancel the timeouts', () => {
  const { desk: one, calledOff: timedOut } = newTimeouts();
  one.update(dialogs, new Set());
  one.update(new Map(), new Set());
  one.update(dialogs, new Set());
  one.close();
  vi.advanceTimersByTime(ABSENCE_MS);
  expect(timedOut).toEqual([]);
});

it('the agent gets an empty ui list only if no client that may answer shows anything', () => {
  const withoutUi = subscriber({ ui: [] });
  expect(agentUiMethods([withoutUi])).toEqual([]);
  expect(agentUiMethods([withoutUi, subscriber({ canAnswerDialogs: false })])).toEqual([]);
  for (const some of [[], [withoutUi, subscriber()], [subscriber({ canAnswerDialogs: false })]])
    expect(agentUiMethods(some)).toContain('select');
});
