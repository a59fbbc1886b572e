import { signal } from '@preact/signals';
import { expect, it } from 'vitest';
import type { ConnectionStatus } from '../../../client/remote/reconnecting-socket.ts';
import { MAX_NOTICES } from '../../../client/view/extension-ui.ts';
import { emptyView, reduce } from '../../../client/view/view.ts';
import { MAX_TOASTS, Notices } from './notices.ts';

function setUp() {
  const view = signal(emptyView);
  const connection = signal<ConnectionStatus>({ state: 'open' });
  const notices = new Notices({ view, connection });
  const publish = (error: string) => {
    view.value = reduce(view.value, { type: 'server_error', error });
  };
  const connect = (sessionId: string) => {
    view.value = reduce(view.value, { type: 'server_connected', sessionId, sessionFile: null, seq: 0, epoch: 'e' });
  };
  const shown = () => notices.open.value.shown.map(({ text }) => text);
  return { notices, connection, publish, shown, connect };
}

it('notices with the same text are separate notices', () => {
  const { notices, publish, shown } = setUp();
  publish('Again');
  publish('Again');
  const [first, second] = notices.open.value.shown;
  if (!first || !second) throw new Error('Both are shown');

  notices.dismiss(first);

  expect(shown()).toEqual(['Again']);
  expect(notices.keyOf(first)).not.toBe(notices.keyOf(second));
  expect(notices.keyOf(second)).toBe(notices.keyOf(second));
});

it('a dismissed notice stays dismissed while the session has it', () => {
  const { notices, publish, shown } = setUp();
  for (let at = 0; at < MAX_NOTICES + 7; at++) publish(`${at}`);
  expect(shown()).toHaveLength(MAX_TOASTS);
  expect(notices.open.value.more).toBe(MAX_NOTICES - MAX_TOASTS);

  notices.dismissAll();
  publish('One more');

  expect(notices.open.value).toMatchObject({ shown: [{ text: 'One more' }], more: 0 });
});

it('a notice with the close reason is left to the connection line', () => {
  const { connection, publish, shown } = setUp();
  publish('No such session');
  connection.value = { state: 'closed', reason: 'No such session' };

  expect(shown()).toEqual([]);
});

it('notices of the page survive a new snapshot', () => {
  const { notices, publish, shown, connect } = setUp();
  publish('Of the session');
  notices.add({ kind: 'info', text: 'Of the page' });

  connect('another');
  const kept = shown();
  notices.dismissAll();

  expect(kept).toEqual(['Of the page']);
  expect(shown()).toEqual([]);
});
