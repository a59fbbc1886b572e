import { signal } from '@preact/signals';
import { expect, it } from 'vitest';
import type { ConnectionStatus } from '../../../client/remote/reconnecting-socket.ts';
import { MAX_NOTICES } from '../../../client/view/extension-ui.ts';
import { emptyView, reduce } from '../../../client/view/view.ts';
import { MAX_TOASTS, Notices } from './notices.ts';

/** Notices of a session that is told of errors. */
function told() {
  const view = signal(emptyView);
  const connection = signal<ConnectionStatus>({ state: 'open' });
  const notices = new Notices({ view, connection });
  const tell = (error: string) => {
    view.value = reduce(view.value, { type: 'server_error', error });
  };
  const connect = (sessionId: string) => {
    view.value = reduce(view.value, { type: 'server_connected', sessionId, sessionFile: null, seq: 0, epoch: 'e' });
  };
  const shown = () => notices.open.value.shown.map(({ text }) => text);
  return { notices, connection, tell, shown, connect };
}

it('tells notices of the same words apart', () => {
  const { notices, tell, shown } = told();
  tell('Again');
  tell('Again');
  const [first, second] = notices.open.value.shown;
  if (!first || !second) throw new Error('Both are shown');

  notices.dismiss(first);

  expect(shown()).toEqual(['Again']);
  expect(notices.numberOf(first)).not.toBe(notices.numberOf(second));
  expect(notices.numberOf(second)).toBe(notices.numberOf(second));
});

it('remembers what was dismissed for as long as the session has it', () => {
  const { notices, tell, shown } = told();
  for (let at = 0; at < MAX_NOTICES + 7; at++) tell(`${at}`);
  expect(shown()).toHaveLength(MAX_TOASTS);
  expect(notices.open.value.more).toBe(MAX_NOTICES - MAX_TOASTS);

  notices.dismissAll();
  tell('One more');

  expect(notices.open.value).toMatchObject({ shown: [{ text: 'One more' }], more: 0 });
});

it('leaves to the connection what is said there', () => {
  const { connection, tell, shown } = told();
  tell('No such session');
  connection.value = { state: 'closed', reason: 'No such session' };

  expect(shown()).toEqual([]);
});

it('keeps what the page itself has to say when a session tells of itself anew', () => {
  const { notices, tell, shown, connect } = told();
  tell('Of the session');
  notices.add({ kind: 'info', text: 'Of the page' });

  connect('another');
  const kept = shown();
  notices.dismissAll();

  expect(kept).toEqual(['Of the page']);
  expect(shown()).toEqual([]);
});
