import { expect } from 'vitest';
import { type Home, newGate, newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import type { Peer, WireRecord } from '../../support/clients/peer.ts';
import { header, storeSession, userEntry } from '../../support/sessions/stored-session.ts';
import { AGENT_SWITCHES_SESSION, LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

type Entry = Record<string, unknown>;

const entriesIn = (records: readonly WireRecord[]): Entry[] =>
  records.filter(({ type }) => type === 'entry_appended').map(({ entry }) => entry as Entry);

/** The index of the first matching record; fails without one. */
function indexOfRecord(peer: Peer, description: string, matches: (record: WireRecord) => boolean): number {
  const index = peer.records.findIndex(matches);
  expect(index, description).toBeGreaterThanOrEqual(0);
  return index;
}

const appended = (matches: (entry: Entry) => boolean) => (record: WireRecord) =>
  record.type === 'entry_appended' && matches(record['entry'] as Entry);

const message = (record: WireRecord | Entry) => JSON.stringify(record['message']);

verifies('I8', 'hello with entries:true sends the whole file in order, then every new entry', async ({ open }) => {
  const { peer, sessionFiles } = await open({
    script: [
      { text: 'hello' },
      { steps: [{ thinking: 'hm' }, { toolCall: { name: 'write', arguments: { path: 'a', content: 'b' } } }] },
      { text: 'written' },
    ],
  });
  await peer.run('before');

  await peer.ok({ type: 'hello', entries: true });
  const early = entriesIn(peer.records);
  await peer.run('after');
  await peer.ok({ type: 'set_session_name', name: 'a name' });
  await peer.ok({ type: 'set_thinking_level', level: 'low' });
  await peer.ok({ type: 'set_model', provider: 'tau', modelId: 'scripted-small' });

  const file = readSessionFile(sessionFiles()[0] ?? '');
  expect(early[0]).toMatchObject({ type: 'session', version: expect.any(Number), id: expect.any(String) });
  expect(early).toEqual(file.slice(0, early.length));
  expect(entriesIn(peer.records)).toEqual(file);
});

verifies('I8', 'entering a session sends all of its entries from the header on', async ({ open }) => {
  const { peer, sessionFiles } = await open({ script: [{ text: 'one' }, { text: 'two' }, { text: 'three' }] });
  await peer.run('first');
  await peer.ok({ type: 'hello', entries: true });

  const before = peer.records.length;
  const { sessionFile: copy } = await peer.ok({ type: 'clone' });
  await peer.ok({ type: 'get_state' });
  const afterClone = peer.records.length;
  const { sessionFile: fresh } = await peer.ok({ type: 'new_session' });
  await peer.ok({ type: 'get_state' });
  const afterNew = peer.records.length;
  await peer.ok({ type: 'switch_session', sessionPath: sessionFiles()[0] ?? '' });
  await peer.run('again');

  expect(entriesIn(peer.records.slice(before, afterClone))).toEqual(readSessionFile(copy));
  expect(entriesIn(peer.records.slice(afterClone, afterNew))[0]).toMatchObject({ type: 'session' });
  expect(fresh).not.toBe(copy);
  expect(entriesIn(peer.records.slice(afterNew))).toEqual(readSessionFile(sessionFiles()[0] ?? ''));
});

verifies(
  'I8',
  'an in-memory session sends its entries, too',
  async ({ open }) => {
    const { peer } = await open({ script: [{ text: 'hello' }], args: ['--no-session'] });

    await peer.ok({ type: 'hello', entries: true });
    await peer.run('go');

    const { entries } = await peer.ok({ type: 'get_entries' });
    const [header, ...feed] = entriesIn(peer.records);
    expect(header).toMatchObject({ type: 'session' });
    expect(feed).toEqual(entries);
  },
  LOCAL_TRANSPORTS,
);

verifies('I8', 'a second hello repeats no entry, and entries:false ends the feed', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }, { text: 'two' }] });

  await peer.ok({ type: 'hello', entries: true });
  await peer.ok({ type: 'hello', entries: true, stream: 'delta' });
  await peer.run('go');
  const feed = entriesIn(peer.records);
  await peer.ok({ type: 'hello', entries: false });
  await peer.run('go on');

  expect(new Set(feed.map(({ id }) => id)).size).toBe(feed.length);
  expect(entriesIn(peer.records)).toEqual(feed);
});

/** Stores a session that is too long to be read at once. */
function longSession(home: Home): string {
  const ids = Array.from({ length: 400 }, (_, index) => index.toString(16).padStart(8, '0'));
  const messages = ids.map((id, index) => userEntry(id, ids[index - 1] ?? null, 'x'.repeat(20_000)));
  return storeSession(home, [header(home.cwd), ...messages]);
}

verifies('I8', 'a long feed starts once and stops when it is cancelled', async ({ open }) => {
  const home = newHome();
  const { peer } = await open({ home, script: [{ text: 'hello' }], args: ['--session', longSession(home)] });
  const { entries } = await peer.ok({ type: 'get_entries' });

  peer.link.pause();
  peer.send('{"type":"hello","entries":true}\n{"id":"twice","type":"hello","entries":true}\n');
  await peer.link.flush();
  peer.link.resume();
  await peer.find(({ id }) => id === 'twice');
  const [, ...feed] = entriesIn(peer.records);
  await peer.ok({ type: 'hello', entries: false });
  const before = peer.records.length;
  peer.link.pause();
  peer.send('{"type":"hello","entries":true}\n{"id":"called off","type":"hello","entries":false}\n');
  await peer.link.flush();
  peer.link.resume();
  await peer.find(({ id }) => id === 'called off');
  const run = await peer.run('go');

  expect(feed).toEqual(entries);
  expect(entriesIn(peer.records.slice(before)).length).toBeLessThan(feed.length);
  expect(entriesIn(run)).toEqual([]);
});

verifies('I9', 'a run that starts during a long feed overtakes none of its entries', async ({ open }) => {
  const home = newHome();
  const path = longSession(home);
  const { peer } = await open({ home, script: [{ text: 'hello' }], args: ['--session', path] });

  peer.link.pause();
  peer.send('{"type":"hello","entries":true}\n{"type":"prompt","message":"go"}\n{"id":"read","type":"get_state"}\n');
  peer.link.resume();
  await peer.next('agent_settled');

  const feed = entriesIn(peer.records);
  expect(feed).toEqual(readSessionFile(path));
  const feedEnd = peer.records.findLastIndex(appended(({ id }) => id === '0000018f'));
  expect(feedEnd).toBeLessThan(peer.records.findIndex(({ command }) => command === 'hello'));
  expect(feedEnd).toBeLessThan(peer.records.findIndex(({ type }) => type === 'agent_start'));
});

verifies('I9', 'leaving a session during a long feed loses none of its entries', async ({ open }) => {
  const home = newHome();
  const path = longSession(home);
  const { peer } = await open({ home, args: ['--session', path] });

  peer.link.pause();
  peer.send('{"type":"hello","entries":true}\n{"id":"moved","type":"new_session"}\n');
  peer.link.resume();
  await peer.find(({ id }) => id === 'moved');
  await peer.ok({ type: 'get_state' });

  const feed = entriesIn(peer.records);
  const second = feed.findLastIndex(({ type }) => type === 'session');
  expect(feed.slice(0, second)).toEqual(readSessionFile(path));
  expect(feed[second]).toMatchObject({ type: 'session' });
});

verifies('I8', 'a client that did not request entries gets none', async ({ open }) => {
  const { peer } = await open();

  await peer.run('say hello');
  await peer.ok({ type: 'set_session_name', name: 'a' });
  await peer.ok({ type: 'new_session' });

  expect(entriesIn(peer.records)).toEqual([]);
});

verifies(
  'I9',
  'entry_appended precedes every record that depends on its entry',
  async ({ open }) => {
    const gate = newGate();
    const { peer } = await open({
      script: [
        {
          steps: [{ text: 'x' }, { await: gate.path }, { toolCall: { name: 'bash', arguments: { command: 'true' } } }],
        },
        { text: 'steered' },
        { text: 'followed' },
      ],
    });
    await peer.ok({ type: 'hello', entries: true });

    await peer.ok({ type: 'prompt', message: 'first' });
    await peer.next('message_update');
    await peer.ok({ type: 'steer', message: 'second' });
    await peer.ok({ type: 'follow_up', message: 'third' });
    gate.open();
    await peer.next('agent_settled');
    await peer.ok({ type: 'set_session_name', name: 'named' });
    await peer.ok({ type: 'set_thinking_level', level: 'low' });
    const { sessionId } = await peer.ok({ type: 'new_session' });

    const messages = peer.records.filter(({ type }) => type === 'message_end');
    expect(messages.map((record) => (record['message'] as { role: string }).role)).toEqual([
      'user',
      'assistant',
      'toolResult',
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
    for (const end of messages) {
      const entry = indexOfRecord(
        peer,
        'the entry',
        appended((other) => message(other) === message(end)),
      );
      const first = indexOfRecord(
        peer,
        'the end',
        (record) => record.type === 'message_end' && message(record) === message(end),
      );
      expect(entry).toBeLessThan(first);
    }
    const pairs: [string, (record: WireRecord) => boolean, (record: WireRecord) => boolean][] = [
      [
        'the prompt',
        appended(({ message: text }) => JSON.stringify(text ?? '').includes('first')),
        ({ command }) => command === 'prompt',
      ],
      [
        'the queue',
        appended(({ type, data }) => type === 'custom' && JSON.stringify(data).includes('second')),
        ({ type }) => type === 'queue_update',
      ],
      ['the name', appended(({ name }) => name === 'named'), ({ type }) => type === 'session_info_changed'],
      [
        'the level',
        appended(({ type, thinkingLevel }) => type === 'thinking_level_change' && thinkingLevel === 'low'),
        ({ type }) => type === 'thinking_level_changed',
      ],
      ['the header', appended(({ id }) => id === sessionId), ({ command }) => command === 'new_session'],
      [
        'the new state',
        appended(({ id }) => id === sessionId),
        ({ type, state }) => type === 'state_changed' && (state as Entry)['sessionId'] === sessionId,
      ],
    ];
    for (const [what, entry, record] of pairs) {
      expect(indexOfRecord(peer, `the entry of ${what}`, entry), what).toBeLessThan(indexOfRecord(peer, what, record));
    }
  },
  // A server sends the state of the new session before its entries.
  AGENT_SWITCHES_SESSION,
);
