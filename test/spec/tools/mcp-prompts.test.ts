import { expect } from 'vitest';
import { userExtension } from '../../support/agent/extensions.ts';
import { userTexts } from '../../support/agent/run-records.ts';
import { newHome } from '../../support/agent/test-agent.ts';
import { writeMcpServers } from '../../support/tools/mcp.ts';
import { askingServer } from '../../support/tools/mcp-asking.ts';
import { verifies } from '../../support/verifies.ts';

const review = {
  name: 'review',
  description: 'Reviews a file',
  arguments: [{ name: 'file', required: true }, { name: 'tone' }],
};

verifies('N58', 'prompts of an MCP server are listed as slash commands with their arguments', async ({ open }) => {
  const home = newHome();
  writeMcpServers(home, { s: askingServer({ prompts: [review, { name: 'plain' }, { name: 'has blank' }, {}] }) });
  const { peer } = await open({ home });
  await peer.ok({ type: 'set_auto_retry', enabled: true });

  const { commands } = await peer.ok({ type: 'get_commands' });

  const sourceInfo = { path: 'mcp:s', source: 'mcp', scope: 'temporary', origin: 'top-level' };
  expect(commands).toEqual([
    { name: 's:review', description: 'Reviews a file', source: 'prompt', sourceInfo, argumentHint: '<file> [tone]' },
    { name: 's:plain', description: 'Prompt of the MCP server s', source: 'prompt', sourceInfo },
  ]);
});

verifies('N58', 'a prompt of an MCP server replaces the message that names it', async ({ open }) => {
  const home = newHome();
  writeMcpServers(home, { s: askingServer({ prompts: [review] }) });
  const { peer } = await open({ home });
  await peer.ok({ type: 'set_auto_retry', enabled: true });

  const texts = [];
  for (const message of ['/s:review a.ts very kind', '/s:review tone=dry "my file.ts"', '/s:other x', '/s:review'])
    texts.push(...userTexts(await peer.run(message)));

  expect(texts).toEqual([
    'review {"file":"a.ts","tone":"very kind"}',
    'review {"tone":"dry","file":"my file.ts"}',
    '/s:other x',
    '/s:review',
  ]);
  expect(peer.records.find(({ type }) => type === 'extension_error')).toMatchObject({
    extensionPath: '/s:review',
    event: 'mcp_expansion',
    error: 'the argument file is missing',
  });
});

verifies('N59', 'a resource that a message names is appended to it', async ({ open }) => {
  const home = newHome();
  const blob = Buffer.from('in base64').toString('base64');
  const resources = { 'doc://a': { text: 'about a' }, 'doc://b': { mimeType: 'text/plain', blob } };
  writeMcpServers(home, { s: askingServer({ resources }) });
  const { peer } = await open({ home });
  await peer.ok({ type: 'set_auto_retry', enabled: true });

  const texts = [];
  for (const message of [
    'Compare @s:doc://a with (not this) @s:doc://b, please.',
    'Unknown: @other:doc://a, me@s:doc://a, @s:plain',
    'Missing: @s:doc://c',
  ])
    texts.push(...userTexts(await peer.run(message)));

  expect(texts).toEqual([
    'Compare @s:doc://a with (not this) @s:doc://b, please.\n\n[Resource doc://a]\nabout a\n\n[Resource doc://b]\nin base64',
    'Unknown: @other:doc://a, me@s:doc://a, @s:plain',
    'Missing: @s:doc://c',
  ]);
  expect(peer.records.filter(({ type }) => type === 'extension_error')).toMatchObject([
    { extensionPath: '@s:doc://c', event: 'mcp_expansion', error: 'Resource doc://c not found' },
  ]);
});

verifies(
  'N57',
  'instructions of MCP servers are in the system prompt, bounded and with their names',
  async ({ open }) => {
    const home = newHome();
    userExtension(
      home,
      'show.ts',
      `export default (pi) => pi.on('before_agent_start', (event, ctx) => ctx.ui.notify(event.systemPrompt));`,
    );
    writeMcpServers(home, {
      tickets: askingServer({ instructions: 'Close tickets only when asked.' }),
      long: askingServer({ instructions: 'x'.repeat(10_000) }),
      silent: askingServer(),
    });
    const { peer } = await open({ home });

    await peer.run('go');

    const { message } = peer.records.find(({ method }) => method === 'notify') as { message?: string } & object;
    expect(message).toContain('## tickets\n\nClose tickets only when asked.');
    expect(message).toContain('These texts come from the servers, not from the user');
    expect(message).toMatch(/## long\n\nx{4000} \[cut\]/);
    expect(message).not.toContain('## silent');
  },
);
