import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { answerDialog } from '../../support/agent/extensions.ts';
import { newHome, openTestAgent } from '../../support/agent/test-agent.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { runTau } from '../../support/processes/program.ts';
import { readNotes, toolCallScript, toolOutcomes, writeMcpServers } from '../../support/tools/mcp.ts';
import { type AskingBehaviour, askingServer } from '../../support/tools/mcp-asking.ts';
import { AGENT_SWITCHES_SESSION, type AgentFixture, verifies } from '../../support/verifies.ts';

/** Opens an agent whose model calls these tools of the server `s`. */
async function openAsking(open: AgentFixture['open'], behaviour: AskingBehaviour, ...tools: string[]) {
  const home = newHome();
  writeMcpServers(home, { s: askingServer(behaviour) });
  return open({ home, script: toolCallScript(...tools.map((tool) => `s__${tool}`)) });
}

/** The text that the first tool call of a run returned, parsed. */
async function resultOf(run: Promise<Awaited<ReturnType<Peer['run']>>>) {
  return JSON.parse(toolOutcomes(await run)[0]?.text ?? '');
}

const form = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name', description: 'as in the passport', minLength: 2 },
    age: { type: 'integer', minimum: 18, default: 21 },
    color: {
      type: 'string',
      oneOf: [
        { const: '#f00', title: 'Red' },
        { const: '#0f0', title: 'Green' },
      ],
    },
    news: { type: 'boolean' },
    days: { type: 'array', items: { type: 'string', enum: ['mo', 'tu', 'we'] }, maxItems: 2 },
    note: { type: 'string' },
  },
  required: ['name', 'color'],
};

verifies(
  'N52',
  'a form that an MCP server requests is shown as dialogs and its values are checked',
  async ({ open }) => {
    const { peer } = await openAsking(open, { form }, 'elicit');

    const run = peer.run('go');
    const consent = await answerDialog(peer, 'confirm', { confirmed: true });
    const first = await answerDialog(peer, 'input', { value: 'x' });
    const repeated = await answerDialog(peer, 'input', { value: 'Ann' });
    await answerDialog(peer, 'input', { value: '' });
    const colors = await answerDialog(peer, 'select', { value: 'Green' });
    const news = await answerDialog(peer, 'select', { value: 'yes' });
    await answerDialog(peer, 'input', { value: 'mo, we' });
    await answerDialog(peer, 'input', { value: '' });

    expect(await resultOf(run)).toEqual({
      action: 'accept',
      content: { name: 'Ann', age: 21, color: '#0f0', news: true, days: ['mo', 'we'] },
    });
    expect(consent).toMatchObject({
      method: 'confirm',
      title: 'The MCP server s requests input',
      message: 'Who are you?\n\nFields: name, age, color, news, days, note',
    });
    expect(first).toMatchObject({ method: 'input', title: 'MCP server s: Name: as in the passport' });
    expect(repeated['title']).toContain('at least 2 characters are needed');
    expect(colors).toMatchObject({ method: 'select', options: ['Red', 'Green'] });
    expect(news).toMatchObject({ method: 'select', options: ['yes', 'no'] });
  },
);

verifies('N52', 'a form that the user declines or cancels is reported as that', async ({ open }) => {
  const { peer } = await openAsking(open, { form }, 'elicit', 'elicit', 'elicit');

  const run = peer.run('go');
  await answerDialog(peer, 'confirm', { confirmed: false });
  await answerDialog(peer, 'confirm', { cancelled: true });
  await answerDialog(peer, 'confirm', { confirmed: true });
  await answerDialog(peer, 'input', { cancelled: true });

  expect(toolOutcomes(await run).map(({ text }) => JSON.parse(text))).toEqual([
    { action: 'decline' },
    { action: 'cancel' },
    { action: 'cancel' },
  ]);
});

verifies('N53', 'a page that an MCP server wants opened is shown with its host', async ({ open }) => {
  const { peer } = await openAsking(open, { url: 'https://pay.example/checkout?x=1' }, 'visit');

  const run = peer.run('go');
  const dialog = await answerDialog(peer, 'confirm', { confirmed: true });

  expect(await resultOf(run)).toEqual({ action: 'accept' });
  expect(dialog).toMatchObject({ method: 'confirm', title: 'MCP server s: open a page?' });
  expect(dialog['message']).toContain('https://pay.example/checkout?x=1\n(host: pay.example)');
});

verifies('N53', 'an address that is no page is not shown', async ({ open }) => {
  const { peer } = await openAsking(open, { url: 'file:///etc/passwd' }, 'visit');

  expect(await resultOf(peer.run('go'))).toEqual({ action: 'cancel' });
});

verifies('N54', 'an MCP server calls the model of the session after the user has confirmed it', async ({ open }) => {
  const home = newHome();
  writeMcpServers(home, { s: askingServer() });
  const [call] = toolCallScript('s__sample', 's__sample');
  const { peer } = await open({ home, script: [call, { text: 'sampled words' }, call, { text: 'done' }] as object[] });

  const run = peer.run('go');
  const dialog = await answerDialog(peer, 'confirm', { confirmed: true });
  await answerDialog(peer, 'confirm', { confirmed: false });

  const [accepted, rejected] = toolOutcomes(await run).map(({ text }) => JSON.parse(text));
  expect(accepted).toMatchObject({ role: 'assistant', content: { type: 'text', text: 'sampled words' } });
  expect(rejected).toMatchObject({ error: { code: -1, message: 'The user rejected the sampling request' } });
  expect(dialog['title']).toMatch(/^MCP server s: let it call .+\?$/);
  expect(dialog['message']).toBe('system: Be short\nuser: Say something\n\nAt most 100 tokens.');
});

verifies('N54', 'a request for the model that is too long or holds more than text is refused', async ({ open }) => {
  const image = { role: 'user', content: { type: 'image', data: 'aGk=', mimeType: 'image/png' } };

  const texts = [];
  for (const behaviour of [{ sampling: { messages: [image] } }, { length: 300_000 }]) {
    const { peer, close } = await openAsking(open, behaviour, 'sample');
    texts.push((await resultOf(peer.run('go'))).error.message);
    await close();
  }

  expect(texts).toEqual(['Only text can be sampled', 'The request has more than 262144 characters']);
});

it('[N52 N54] without a client that shows dialogs, requests of an MCP server are cancelled or denied', async () => {
  const home = newHome();
  writeMcpServers(home, { s: askingServer({ form }) });
  const { peer } = await openTestAgent('stdio', { home, script: toolCallScript('s__elicit', 's__sample') });
  await peer.ok({ type: 'hello', ui: [] });

  const outcomes = toolOutcomes(await peer.run('go')).map(({ text }) => JSON.parse(text));

  expect(outcomes).toMatchObject([
    { action: 'cancel' },
    { error: { message: 'There is no user who could confirm the request' } },
  ]);
});

verifies('N55', 'an MCP server that floods the user with requests is cut off', async ({ open }) => {
  const notes = join(newHome().root, 'notes');
  const { peer } = await openAsking(open, { count: 40, notes }, 'flood');

  const run = peer.run('go');
  // Each answer makes room for another request.
  await expect.poll(() => readNotes(notes).filter((note) => note === 'cancel')).toHaveLength(35);
  for (let shown = 0; shown < 5; shown++) await answerDialog(peer, 'confirm', { confirmed: true });

  const results: { action: string }[] = await resultOf(run);
  const count = (action: string) => results.filter((result) => result.action === action).length;
  expect([count('accept'), count('cancel')]).toEqual([5, 35]);
  expect(peer.records.filter(({ type }) => type === 'extension_ui_request')).toHaveLength(5);
});

verifies('N55', 'an MCP server that calls the model again and again is cut off', async ({ open }) => {
  const home = newHome();
  writeMcpServers(home, { s: askingServer({ count: 35 }) });
  const [call, end] = toolCallScript('s__loop');
  const samples = Array.from({ length: 30 }, () => ({ text: 'words' }));
  const { peer } = await open({ home, script: [call, ...samples, end] as object[] });

  const run = peer.run('go');
  for (let shown = 0; shown < 30; shown++) await answerDialog(peer, 'confirm', { confirmed: true });

  const results = await resultOf(run);
  expect(results.slice(0, 30)).toEqual(Array(30).fill('sampled'));
  expect(results.slice(30)).toEqual(Array(5).fill('There are too many requests'));
});

verifies(
  'N51',
  'the root of an MCP server is the folder of the session',
  async ({ open }) => {
    const { peer, home } = await openAsking(open, {}, 'roots');

    expect(await resultOf(peer.run('go'))).toEqual({
      roots: [{ uri: pathToFileURL(home.cwd).href, name: basename(home.cwd) }],
    });
  },
  AGENT_SWITCHES_SESSION,
);

it('[N51 N52 N54] an agent without clients offers its servers roots and no dialogs', async () => {
  const home = newHome();
  const notes = join(home.root, 'notes');
  writeMcpServers(home, { s: askingServer({ notes }) });

  await runTau(home, ['-p', 'hello'], { input: '' });

  expect(readNotes(notes)).toContain('capabilities {"roots":{"listChanged":true}}');
});
