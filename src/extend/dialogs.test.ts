import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Dialogs, type DialogClients } from './dialogs.ts';

const MINUTES = 60_000;
const DIALOG = { method: 'input', title: 'Name?' } as const;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Dialogs before clients that come and go. */
function newDialogs({ canShow = false, isMute: cannotAnswer = false } = {}) {
  const clients = { canShow, cannotAnswer };
  const shown: string[] = [];
  const closed: string[] = [];
  const stage: DialogClients = {
    canShow: () => clients.canShow,
    cannotAnswer: () => clients.cannotAnswer,
    isFinal: () => false,
    show: ({ id }) => void shown.push(id),
    close: (_id, by) => void closed.push(by),
  };
  return { dialogs: new Dialogs(stage), clients, shown, closed };
}

it('[X8] a dialog that nobody can show is given up after ten minutes', async () => {
  const { dialogs, closed } = newDialogs();
  const response = dialogs.open(DIALOG);

  await vi.advanceTimersByTimeAsync(10 * MINUTES - 1);
  expect(dialogs.pending).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);

  expect(await response).toBeUndefined();
  expect(closed).toEqual(['timeout']);
});

it('[X8] it waits for as long as somebody can show it, and ten minutes anew when the last one goes', async () => {
  const { dialogs, clients, closed } = newDialogs();
  void dialogs.open(DIALOG);

  await vi.advanceTimersByTimeAsync(9 * MINUTES);
  clients.canShow = true;
  dialogs.clientsChanged();
  await vi.advanceTimersByTimeAsync(1000 * MINUTES);
  expect(closed).toEqual([]);
  clients.canShow = false;
  dialogs.clientsChanged();
  await vi.advanceTimersByTimeAsync(9 * MINUTES);
  expect(closed).toEqual([]);
  await vi.advanceTimersByTimeAsync(MINUTES);

  expect(closed).toEqual(['timeout']);
});

it('[X10] where nobody will ever answer nothing is asked, and what was asked is over', async () => {
  const mute = newDialogs({ isMute: true });
  const later = newDialogs({ canShow: true });
  const response = later.dialogs.open(DIALOG);

  expect(await mute.dialogs.open(DIALOG)).toBeUndefined();
  later.clients.cannotAnswer = true;
  later.dialogs.clientsChanged();

  expect(mute.shown).toEqual([]);
  expect(await response).toBeUndefined();
  expect(later.closed).toEqual(['nobody']);
});

it('[X9] every open dialog ends with what ends them all', async () => {
  const { dialogs, closed } = newDialogs({ canShow: true });
  const responses = [1, 2, 3].map(() => dialogs.open(DIALOG));

  dialogs.dismissAll('shutdown');

  expect(await Promise.all(responses)).toEqual([undefined, undefined, undefined]);
  expect(closed).toEqual(['shutdown', 'shutdown', 'shutdown']);
  expect(vi.getTimerCount()).toBe(0);
});

it('[X8] whoever comes later is told how much time is left', async () => {
  const { dialogs } = newDialogs({ canShow: true });
  void dialogs.open(DIALOG, { timeout: 5 * MINUTES });
  void dialogs.open(DIALOG);

  await vi.advanceTimersByTimeAsync(2 * MINUTES);

  expect(dialogs.pending).toEqual([
    expect.objectContaining({ timeout: 3 * MINUTES }),
    expect.not.objectContaining({ timeout: expect.anything() }),
  ]);
});
