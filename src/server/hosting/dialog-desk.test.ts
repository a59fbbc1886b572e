import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ExtensionUiRequestEvent } from '../../protocol/generated/vocabulary.ts';
import { ABSENCE_MS, DialogDesk, uiOf } from './dialog-desk.ts';
import { Listening } from './testing/listening.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const asked: ExtensionUiRequestEvent = { type: 'extension_ui_request', id: 'd', method: 'input', title: 'Name?' };
const dialogs = new Map([['d', asked]]);

const listener = (more: Partial<Listening> = {}) => Object.assign(new Listening(), more);

function desk() {
  const calledOff: string[] = [];
  return { calledOff, desk: new DialogDesk((id) => calledOff.push(id)) };
}

it('calls a dialog off that nobody could show for ten minutes', () => {
  const { desk: one, calledOff } = desk();
  one.look(dialogs, new Set());
  vi.advanceTimersByTime(ABSENCE_MS - 1);
  expect(calledOff).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(calledOff).toEqual(['d']);
});

it('counts anew when somebody was there who could', () => {
  const { desk: one, calledOff } = desk();
  one.look(dialogs, new Set());
  vi.advanceTimersByTime(ABSENCE_MS - 1);
  one.look(dialogs, new Set([listener()]));
  vi.advanceTimersByTime(ABSENCE_MS);
  one.look(dialogs, new Set());
  vi.advanceTimersByTime(ABSENCE_MS - 1);
  expect(calledOff).toEqual([]);
});

it('counts those who may not answer, or cannot show it, as nobody', () => {
  const { desk: one, calledOff } = desk();
  one.look(dialogs, new Set([listener({ canAnswer: false }), listener({ ui: ['notify'] })]));
  vi.advanceTimersByTime(ABSENCE_MS);
  expect(calledOff).toEqual(['d']);
});

it('forgets a dialog that is over, and everything at the end', () => {
  const { desk: one, calledOff } = desk();
  one.look(dialogs, new Set());
  one.look(new Map(), new Set());
  one.look(dialogs, new Set());
  one.close();
  vi.advanceTimersByTime(ABSENCE_MS);
  expect(calledOff).toEqual([]);
});

it('tells the agent that nothing can be shown only when all who might answer say so', () => {
  const mute = listener({ ui: [] });
  expect(uiOf([mute])).toEqual([]);
  expect(uiOf([mute, listener({ canAnswer: false })])).toEqual([]);
  for (const some of [[], [mute, listener()], [listener({ canAnswer: false })]]) expect(uiOf(some)).toContain('select');
});
