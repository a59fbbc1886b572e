import { expect } from 'vitest';
import { newHome } from '../../support/agent/test-agent.ts';
import type { Peer, WireRecord } from '../../support/clients/peer.ts';
import { entry, shortConversation, storeSession } from '../../support/sessions/stored-session.ts';
import { verifies } from '../../support/verifies.ts';

/** The events that a command causes before its response. */
async function eventsOf(peer: Peer, command: { type: string } & Record<string, unknown>): Promise<WireRecord[]> {
  await peer.greeted();
  const start = peer.records.length;
  await peer.ok(command);
  return peer.records.slice(start).filter(({ type }) => type !== 'response');
}

const named = { args: ['--model', 'tau/scripted'] };

verifies('I13 I14 I17', 'a change of the model publishes the thinking level that changed with it', async ({ open }) => {
  const { peer } = await open(named);
  const { models } = await peer.ok({ type: 'get_available_models' });
  const model = models.find(({ id }: { id: string }) => id === 'scripted-small');

  const published = await eventsOf(peer, { type: 'set_model', provider: 'tau', modelId: 'scripted-small' });
  const again = await eventsOf(peer, { type: 'set_model', provider: 'tau', modelId: 'scripted-small' });

  expect(published).toEqual([
    { type: 'thinking_level_changed', level: 'off' },
    { type: 'state_changed', state: { model, thinkingLevel: 'off' } },
  ]);
  expect(again).toEqual([]);
});

verifies('I13', 'a rejected command publishes no state change', async ({ open }) => {
  const { peer } = await open(named);
  await peer.greeted();
  const published = peer.records.length;

  await peer.refused({ type: 'set_model', provider: 'tau', modelId: 'none' });
  await peer.refused({ type: 'set_steering_mode', mode: 'some' });
  await peer.refused({ type: 'set_thinking_level', level: 'much' });

  expect(peer.records.slice(published).filter(({ type }) => type !== 'response')).toEqual([]);
});

verifies('I13', 'the merged state changes equal the state', async ({ open }) => {
  const home = newHome();
  const sessionPath = storeSession(home, [
    ...shortConversation(home.cwd),
    entry('session_info', '11111111', 'bbbbbbbb', { name: 'stored' }),
    entry('model_change', '22222222', '11111111', { provider: 'anthropic', modelId: 'claude' }),
  ]);
  const { peer } = await open({ home });
  const state = await peer.ok({ type: 'get_state' });
  const published = peer.records.length;

  for (const command of [
    { type: 'set_model', provider: 'tau', modelId: 'scripted-slow' },
    { type: 'set_thinking_level', level: 'max' },
    { type: 'switch_session', sessionPath },
    { type: 'set_steering_mode', mode: 'all' },
    { type: 'new_session' },
    { type: 'set_session_name', name: 'new' },
    { type: 'set_trust', trusted: true, remember: false },
  ]) {
    await peer.ok(command);
    const now = await peer.ok({ type: 'get_state' });
    // A server sends the whole state of another session.
    let merged: object = state;
    for (const { type, state: changes } of peer.records.slice(published)) {
      if (type === 'state_synced') merged = changes as object;
      if (type === 'state_changed') merged = { ...merged, ...(changes as object) };
    }
    const fields = Object.entries(merged).filter(([name, value]) => value !== null || name === 'model');
    expect(Object.fromEntries(fields)).toEqual(now);
  }
});

verifies('I13', 'state_changed precedes the response', async ({ open }) => {
  const { peer } = await open(named);

  peer.send({ id: 'a', type: 'set_steering_mode', mode: 'all' });
  await peer.find(({ type, id }) => type === 'response' && id === 'a');

  expect(peer.records.slice(-2).map(({ type }) => type)).toEqual(['state_changed', 'response']);
});
