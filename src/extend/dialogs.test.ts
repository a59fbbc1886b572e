import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Dialogs, type Stage } from './dialogs.ts';

const MINUTES = 60_000;
const QUESTION = { method: 'input', title: 'Name?' } as const;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Dialogs before clients that come and go. */
function onStage({ canShow = false, isMute = false } = {}) {
  const clients = { canShow, isMute };
  const shown: string[] = [];
  const closed: string[] = [];
  const stage: Stage = {
    canShow: () => clients.canShow,
    isMute: () => clients.isMute,
    isFinal: () => false,
    show: ({ id }) => void shown.push(id),
    close: (_id, by) => void closed.push(by),
  };
  return { dialogs: new Dialogs(stage), clients, shown, closed };
}

it('[X8] a dialog that nobody can show is given up after ten minutes', async () => {
  const { dialogs, closed } = onStage();
  const answer = dialogs.ask(QUESTION);

  await vi.advanceTimersByTimeAsync(10 * MINUTES - 1);
  expect(dialogs.pending).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);

  expect(await answer).toBeUndefined();
  expect(closed).toEqual(['timeout']);
});

it('[X8] it waits for as long as somebody can show it, and ten minutes anew when the last one goes', async () => {
  const { dialogs, clients, closed } = onStage();
  void dialogs.ask(QUESTION);

  await vi.advanceTimersByTimeAsync(9 * MINUTES);
  clients.canShow = true;
  dialogs.stageChanged();
  await vi.advanceTimersByTimeAsync(1000 * MINUTES);
  expect(closed).toEqual([]);
  clients.canShow = false;
  dialogs.stageChanged();
  await vi.advanceTimersByTimeAsync(9 * MINUTES);
  expect(closed).toEqual([]);
  await vi.advanceTimersByTimeAsync(MINUTES);

  expect(closed).toEqual(['timeout']);
});

it('[X10] where nobody will ever answer nothing is asked, and what was asked is over', async () => {
  const mute = onStage({ isMute: true });
  const later = onStage({ canShow: true });
  const answer = later.dialogs.ask(QUESTION);

  expect(await mute.dialogs.ask(QUESTION)).toBeUndefined();
  later.clients.isMute = true;
  later.dialogs.stageChanged();

  expect(mute.shown).toEqual([]);
  expect(await answer).toBeUndefined();
  expect(later.closed).toEqual(['nobody']);
});

it('[X9] every open dialog ends with what ends them all', async () => {
  const { dialogs, closed } = onStage({ canShow: true });
  const answers = [1, 2, 3].map(() => dialogs.ask(QUESTION));

  dialogs.dismissAll('shutdown');

  expect(await Promise.all(answers)).toEqual([undefined, undefined, undefined]);
  expect(closed).toEqual(['shutdown', 'shutdown', 'shutdown']);
  expect(vi.getTimerCount()).toBe(0);
});

it('[X8] whoever comes later is told how much time is left', async () => {
  const { dialogs } = onStage({ canShow: true });
  void dialogs.ask(QUESTION, { timeout: 5 * MINUTES });
  void dialogs.ask(QUESTION);

  await vi.advanceTimersByTimeAsync(2 * MINUTES);

  expect(dialogs.pending).toEqual([
    expect.objectContaining({ timeout: 3 * MINUTES }),
    expect.not.objectContaining({ timeout: expect.anything() }),
  ]);
});
