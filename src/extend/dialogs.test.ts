import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type DialogClients, Dialogs } from './dialogs.ts';

const MINUTES = 60_000;
const DIALOG = { method: 'input', title: 'Name?' } as const;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function newDialogs({ canShow = false, isMute: cannotAnswer = false } = {}) {
  const clients = { canShow, cannotAnswer };
  const shown: string[] = [];
  const closed: string[] = [];
  const stage: DialogClients = {
    canShow: () => clients.canShow,
    cannotAnswer: () => clients.cannotAnswer,
    isFinal: () => false,
    reportUnshown: () => {},
    deadlineMs: () => undefined,
    show: ({ id }) => void shown.push(id),
    close: (_id, by) => void closed.push(by),
  };
  return { dialogs: new Dialogs(stage), clients, shown, closed };
}

it('[X8] a dialog that no client can show times out after ten minutes', async () => {
  const { dialogs, closed } = newDialogs();
  const response = dialogs.open(DIALOG);

  await vi.advanceTimersByTimeAsync(10 * MINUTES - 1);
  expect(dialogs.pending).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);

  expect(await response).toBeUndefined();
  expect(closed).toEqual(['timeout']);
});

it('[X8] a dialog waits while a client can show it, and ten minutes more after the last one disconnects', async () => {
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

it('[X10] a dialog without a client that can respond is never shown, and an open one ends', async () => {
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

it('[X9] dismissing all dialogs ends each of them with the given reason', async () => {
  const { dialogs, closed } = newDialogs({ canShow: true });
  const responses = [1, 2, 3].map(() => dialogs.open(DIALOG));

  dialogs.dismissAll('shutdown');

  expect(await Promise.all(responses)).toEqual([undefined, undefined, undefined]);
  expect(closed).toEqual(['shutdown', 'shutdown', 'shutdown']);
  expect(vi.getTimerCount()).toBe(0);
});

it('[X8] a client that connects later gets the remaining timeout', async () => {
  const { dialogs } = newDialogs({ canShow: true });
  void dialogs.open(DIALOG, { timeout: 5 * MINUTES });
  void dialogs.open(DIALOG);

  await vi.advanceTimersByTimeAsync(2 * MINUTES);

  expect(dialogs.pending).toEqual([
    expect.objectContaining({ timeout: 3 * MINUTES }),
    expect.not.objectContaining({ timeout: expect.anything() }),
  ]);
});
