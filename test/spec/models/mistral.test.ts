import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assistantTexts } from '../../support/agent/run-records.ts';
import { openTestAgent } from '../../support/agent/test-agent.ts';
import { homeWithFiles } from '../../support/agent/user-files.ts';
import { completions } from '../../support/providers/completions.ts';
import { mistralApi, mistralProblem } from '../../support/providers/mistral.ts';
import { ProviderDouble } from '../../support/providers/provider-double.ts';

async function openMistral(model: string) {
  const [double, other] = await Promise.all([ProviderDouble.start(mistralApi), ProviderDouble.start(completions)]);
  const home = homeWithFiles({
    models: {
      providers: {
        mistral: {
          baseUrl: double.url,
          api: 'mistral-conversations',
          models: [{ id: 'magistral-small', reasoning: true }],
        },
        other: { baseUrl: other.url, api: 'openai-completions', models: [{ id: 'm' }] },
      },
    },
  });
  const agent = await openTestAgent('stdio', {
    home,
    env: { MISTRAL_API_KEY: 'mistral-key' },
    args: ['--model', model],
  });
  return { ...agent, double, other };
}

describe('[L96] Mistral', () => {
  it('gets no fields that it rejects, and its thinking inside the content both ways', async () => {
    const { peer, double } = await openMistral('mistral/mistral-medium-latest:high');
    double.respondWith({ thinking: 'Hm.', text: 'One.', usage: { input: 10, output: 5 } }, { text: 'Two.' });

    await peer.run('first');
    await peer.run('second');

    const [first, second] = double.requests;
    expect(first).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer mistral-key', 'x-affinity': expect.any(String) },
      body: { model: 'mistral-medium-latest', reasoning_effort: 'high' },
    });
    expect(double.requests.map(({ body }) => mistralProblem(body))).toEqual([undefined, undefined]);
    expect(second?.body.messages.at(-2)).toEqual({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
        { type: 'text', text: 'One.' },
      ],
    });
    expect(JSON.stringify(peer.records)).toContain('"thinking":"Hm."');
    expect(await peer.ok({ type: 'get_session_stats' })).toMatchObject({ tokens: { input: 11, output: 6 } });
  });

  it('gets prompt_mode where a model has no names of levels, and none when thinking is off', async () => {
    const { peer, double } = await openMistral('mistral/magistral-small:high');
    double.respondWith({ text: 'One.' }, { text: 'Two.' });

    await peer.run('first');
    await peer.ok({ type: 'set_thinking_level', level: 'off' });
    await peer.run('second');

    const [first, second] = double.requests.map(({ body }) => body);
    expect(first).toMatchObject({ prompt_mode: 'reasoning' });
    expect(first).not.toHaveProperty('reasoning_effort');
    expect(second).not.toHaveProperty('prompt_mode');
  });

  it('gets ids of nine letters or digits for calls of another model, the same in each request', async () => {
    const { peer, double, other, home } = await openMistral('other/m');
    writeFileSync(join(home.cwd, 'a.txt'), 'first file');
    const ids = ['call_0123456789abcdef', 'toolu_01ABCDEFGHIJ', 'fc-1|fc_2'];
    other.respondWith(
      { calls: ids.map((id) => ({ id, name: 'read', arguments: { path: 'a.txt' } })) },
      { text: 'Read.' },
    );
    await peer.run('look');
    double.respondWith(
      { calls: [{ id: 'AbCdEf123', name: 'read', arguments: { path: 'a.txt' } }] },
      { text: 'Done.' },
      { text: 'Again.' },
    );

    await peer.ok({ type: 'set_model', provider: 'mistral', modelId: 'mistral-large-latest' });
    await peer.run('and now you');
    await peer.run('again');

    expect(double.requests.map(({ body }) => mistralProblem(body))).toEqual([undefined, undefined, undefined]);
    const idsOf = (index: number) => double.requests[index]?.text.match(/"tool_call_id":"\w+"/g);
    expect(idsOf(1)).toEqual([...(idsOf(0) ?? []), '"tool_call_id":"AbCdEf123"']);
    expect(idsOf(2)).toEqual(idsOf(1));
    expect(assistantTexts(peer.records).at(-1)).toBe('Again.');
  });
});
