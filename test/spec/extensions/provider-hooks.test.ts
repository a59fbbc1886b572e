import { expect } from 'vitest';
import { allNotifications, homeWithCommands } from '../../support/agent/extensions.ts';
import { completions } from '../../support/providers/completions.ts';
import { ProviderDouble } from '../../support/providers/provider-double.ts';
import { verifies } from '../../support/verifies.ts';

const LOCAL = ['stdio', 'unix'] as const;

/** Code that registers the provider `acme` with two models. */
const acme = `pi.registerProvider('acme', { baseUrl: process.env.ACME_URL, apiKey: 'ACME_KEY', api: 'openai-completions',
  models: ['large', 'small'].map((id) => ({ id, name: id, reasoning: false, input: ['text'],
    cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 }, contextWindow: 32000, maxTokens: 4000 })) });`;

const args = ['--model', 'acme/large'];

verifies(
  'X70 X71',
  'the hooks of a request run in order, with secrets only where headers can be changed',
  async ({ open }) => {
    const double = await ProviderDouble.start(completions);
    const { home } = homeWithCommands(
      {},
      `${acme}
      const seen = [];
      const note = (name, value) => seen.push([name, value]);
      pi.on('context', () => note('context'));
      pi.on('context_with_system', ({ messages }) => note('context_with_system', messages.map(({ role }) => role)));
      pi.on('before_provider_headers', ({ headers }) => {
        note('before_provider_headers', headers.authorization);
        headers['x-trace'] = 'abc';
        headers['user-agent'] = null;
        headers['x-none'] = undefined;
        return { headers: {} };
      });
      pi.on('before_provider_request', ({ payload }) => { note('before_provider_request', payload.model); });
      pi.on('after_provider_response', ({ status, headers }) => note('after_provider_response', [status, headers['content-type']]));
      pi.on('provider_stream_event', ({ provider, api, model, data }) => note('provider_stream_event', [provider, api, model, typeof data.choices]));
      pi.on('agent_settled', (_event, ctx) => tell(ctx, seen));`,
    );
    const { peer } = await open({ home, args, env: { ACME_URL: double.url, ACME_KEY: 'a-secret-key' } });
    double.respondWith({ text: 'hello' });

    await peer.run('go');
    await peer.next('extension_ui_request');

    const [seen] = allNotifications(peer);
    const names = seen.map(([name]: [string]) => name);
    expect(names.slice(0, 6)).toEqual([
      'context',
      'context_with_system',
      'before_provider_headers',
      'before_provider_request',
      'after_provider_response',
      'provider_stream_event',
    ]);
    expect(seen.slice(1, 6).map(([, value]: [string, unknown]) => value)).toEqual([
      ['system', 'user'],
      'Bearer a-secret-key',
      'large',
      [200, expect.stringContaining('event-stream')],
      ['acme', 'openai-completions', 'large', 'object'],
    ]);
    expect(double.requests[0]?.headers).toMatchObject({ 'x-trace': 'abc', authorization: 'Bearer a-secret-key' });
    expect(double.requests[0]?.headers['user-agent']).toBeUndefined();
    expect(double.requests[0]?.headers['x-none']).toBeUndefined();
  },
  LOCAL,
);

verifies(
  'X70',
  'after_provider_response receives the status of a refusal',
  async ({ open }) => {
    const double = await ProviderDouble.start(completions);
    const { home } = homeWithCommands(
      {},
      `${acme}
      pi.on('after_provider_response', ({ status, headers }, ctx) => tell(ctx, [status, headers['x-left'], headers['set-cookie']]));`,
    );
    const { peer } = await open({ home, args, env: { ACME_URL: double.url, ACME_KEY: 'k' } });
    double.respondWith({ status: 400, message: 'no', headers: { 'x-left': '3', 'set-cookie': 'session=secret' } });

    await peer.run('go');

    expect(allNotifications(peer)).toEqual([[400, '3', '…']]);
  },
  LOCAL,
);

verifies(
  'X72',
  'a context_with_system handler changes the prompt, the tools and the messages of one request',
  async ({ open }) => {
    const double = await ProviderDouble.start(completions);
    const { home } = homeWithCommands(
      {},
      `${acme}
      pi.on('context_with_system', ({ messages: [system, ...rest] }) => {
        system.toolsAdded = system.toolsAdded.filter(({ name }) => name === 'read');
        return { messages: [{ ...system, content: 'Be brief.' }, ...rest, { role: 'user', content: 'and fast', timestamp: 1 }] };
      });`,
    );
    const { peer } = await open({ home, args, env: { ACME_URL: double.url, ACME_KEY: 'k' } });
    double.respondWith({ text: 'ok' });

    await peer.run('go');

    const { messages, tools } = double.requests[0]?.body ?? {};
    expect(messages[0]).toMatchObject({ content: 'Be brief.' });
    expect(JSON.stringify(messages.at(-1))).toContain('and fast');
    expect(tools.map(({ function: { name } }: { function: { name: string } }) => name)).toEqual(['read']);
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ messageCount: 2 });
  },
  LOCAL,
);

verifies(
  'X73',
  'changed prompt options reach the next request',
  async ({ open }) => {
    const double = await ProviderDouble.start(completions);
    const { home } = homeWithCommands(
      {},
      `${acme}
      pi.on('before_agent_start', ({ prompt, systemPromptOptions: options }) => {
        if (prompt === 'force') { options.forceSystemPrompt = 'Only this.'; return; }
        options.appendSystemPrompt += 'Appended text.';
        options.promptGuidelines.push('Own guideline.');
        (options.toolGuidelines.bash ??= []).push('Bash guideline.');
        options.hiddenTools.push('edit');
        options.contextFiles.push({ path: 'MADE.md', content: 'Made up file.' });
        options.skills.push({ name: 'made-skill', description: 'Made up.', filePath: '/made/SKILL.md' });
      });
      pi.on('before_agent_start', ({ systemPrompt }, ctx) => tell(ctx, systemPrompt.includes('Own guideline.')));`,
    );
    const { peer } = await open({ home, args, env: { ACME_URL: double.url, ACME_KEY: 'k' } });
    double.respondWith({ text: 'ok' }, { text: 'ok' });

    await peer.run('go');
    await peer.run('force');

    const [first, second] = double.requests.map(({ body }) => body.messages[0].content as string);
    for (const part of ['Appended text.', '- Own guideline.', '- Bash guideline.', 'Made up file.', 'made-skill']) {
      expect(first).toContain(part);
    }
    expect(first).not.toContain('- edit:');
    expect(second).toBe('Only this.');
    expect(allNotifications(peer)).toEqual([true, false]);
  },
  LOCAL,
);

verifies(
  'X73 X50',
  'prompt options of the wrong type are reported and change nothing',
  async ({ open }) => {
    const { home } = homeWithCommands(
      {},
      "pi.on('before_agent_start', ({ systemPromptOptions }) => { systemPromptOptions.skills = 7; });",
    );
    const { peer } = await open({ home, script: [{ text: 'done' }] });

    const records = await peer.run('go');

    expect(records.filter(({ type }) => type === 'extension_error')).toMatchObject([{ event: 'before_agent_start' }]);
    expect(records.at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'ok' });
  },
  LOCAL,
);
