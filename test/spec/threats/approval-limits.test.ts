import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { digestOf } from '../../../src/store/tokens/token-record.ts';
import { newHome } from '../../support/agent/test-agent.ts';
import { runTau } from '../../support/processes/program.ts';
import { approvalAgent, OPTION_NAMES, publishing, question } from '../../support/server/approval-agent.ts';
import { newToken, startTarget, type TargetClient, writeTokensFile } from '../../support/server/attack-target.ts';

const FILE_TOKEN = 'a-token-of-the-tokens-file-0123456789';

/** A server whose agents record what they receive, and a session of its owner. */
async function startAsked(args: readonly string[] = []) {
  const home = newHome();
  const agent = approvalAgent(home);
  const target = await startTarget({ home, args: [...agent.args, ...args] });
  const owner = await target.connect();
  await owner.find('state_synced');
  const { sessionId } = await owner.location();
  const connect = async (token: string): Promise<TargetClient> => {
    const client = await target.connect({ token, session: sessionId });
    await client.location();
    return client;
  };
  const limited = async (limit: string, scope = 'view,prompt,bash,admin') => {
    const { token, id } = await newToken(home, { scope, args: ['--limit', limit] });
    return { client: await connect(token), id };
  };
  const publish = (...records: readonly object[]) =>
    owner.ok({ type: 'set_session_name', name: publishing(...records) });
  return { home, target, owner, connect, limited, publish, received: agent.received };
}

it('[A108] tau token create --limit stores the limit and list shows it', async () => {
  const home = newHome();

  const created = await runTau(home, ['token', 'create', '--name', 'phone', '--limit', 'auto']);
  const withBash = await runTau(home, ['token', 'create', '--name', 'other', '--scope', 'bash', '--limit', 'plan']);
  await runTau(home, ['token', 'create', '--name', 'free']);
  const table = await runTau(home, ['token', 'list']);
  const list = await runTau(home, ['token', 'list', '--json']);
  const wrong = await runTau(home, ['token', 'create', '--name', 'x', '--limit', 'everything']);
  const misplaced = await runTau(home, ['token', 'list', '--limit', 'plan']);

  expect(created.stderr).toContain('scopes view, prompt; limit auto.');
  expect(withBash.stderr).toContain('Its limit excludes bash');
  const facts = list.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(facts.map(({ name, limit }) => [name, limit])).toEqual([
    ['phone', 'auto'],
    ['other', 'plan'],
    ['free', undefined],
  ]);
  const rows = table.stdout.split('\n').map((row) => row.trim().split(/ {2,}/).at(-2));
  expect(rows.slice(0, 4)).toEqual(['LIMIT', 'auto', 'plan', 'none']);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('--limit must be one of plan, ask, edit') });
  expect(misplaced).toMatchObject({ code: 2, stderr: expect.stringContaining('--limit goes with tau token create') });
});

it('[A108] a login has the limit of its token, and a token of a file its own', async () => {
  const home = newHome();
  const path = writeTokensFile(home, { [FILE_TOKEN]: { limit: 'edit' } });
  const target = await startTarget({ home, args: ['--tokens', path] });
  const { token } = await newToken(home, { args: ['--limit', 'plan'] });
  const limitOf = async (headers: Record<string, string>) =>
    JSON.parse((await target.get('/api/me', { headers })).body).limit;

  const login = await target.post('/api/login', { token });
  const [cookie = ''] = String(login.headers['set-cookie']).split(';');
  const ownerLogin = await target.post('/api/login', { code: target.code });

  expect(JSON.parse(login.body).limit).toBe('plan');
  expect(JSON.parse(ownerLogin.body)).not.toHaveProperty('limit');
  expect(await limitOf({ cookie })).toBe('plan');
  expect(await limitOf({ authorization: `Bearer ${token}` })).toBe('plan');
  expect(await limitOf({ authorization: `Bearer ${FILE_TOKEN}` })).toBe('edit');
});

it('[A108] a stored token whose limit is none of the modes grants nothing, and a change of the limit closes connections', async () => {
  const home = newHome();
  mkdirSync(join(home.agentDir, 'server'), { recursive: true });
  const entry = { name: 'a', scopes: ['view', 'prompt'], createdAt: '2026-01-01T00:00:00Z' };
  const limits = ['none', '', null, 7, ['plan'], { mode: 'plan' }];
  const path = join(home.agentDir, 'server', 'tokens.json');
  const write = (more: object = {}) => {
    const odd = limits.map((limit, index) => [
      `0000000${index}`,
      { ...entry, sha256: digestOf(`odd-${index}`), limit },
    ]);
    const misspelt = { ...entry, sha256: digestOf('misspelt'), limits: 'plan' };
    const good = { ...entry, sha256: digestOf('good'), ...more };
    const tokens = { ...Object.fromEntries(odd), '00000010': misspelt, '00000011': good };
    writeFileSync(path, JSON.stringify({ tokens }), { mode: 0o600 });
  };
  write();
  const target = await startTarget({ home });
  const tokens = [...limits.map((_limit, index) => `odd-${index}`), 'misspelt'];

  const ends = tokens.map(async (token) => (await (await target.connect({ token })).ended).code);
  const good = await target.connect({ token: 'good' });
  await good.find('state_synced');
  write({ limit: 'plan' });

  expect(await Promise.all(ends)).toEqual(tokens.map(() => 1008));
  expect((await good.ended).code).toBe(1008);
});

const MESSAGES = ['prompt', 'steer', 'follow_up', 'abort_and_prompt'] as const;

it('[A109] the messages of a client with a limit carry it, whatever the client claims', async () => {
  const { limited, received } = await startAsked();
  const { client } = await limited('auto');

  for (const type of MESSAGES) {
    await client.ok({ type, message: 'plain' });
    await client.ok({ type, message: 'claimed', approvalLimit: 'full', mayLoosen: true });
    await client.ok({
      type,
      message: 'nested',
      params: { approvalLimit: 'full' },
      approval: { approvalLimit: 'full' },
    });
  }
  client.send('{"type":"prompt","message":"twice","approvalLimit":"plan","id":"t","approvalLimit":"full"}');
  await client.find(({ id }) => id === 't');

  for (const type of MESSAGES) {
    const messages = received(type);
    expect(messages.map(({ approvalLimit }) => approvalLimit)).toEqual(messages.map(() => 'auto'));
    expect(messages.length).toBeGreaterThanOrEqual(3);
    for (const message of messages) expect(message).not.toHaveProperty('mayLoosen');
  }
});

it('[A109] a client without a limit cannot set one, nor mayLoosen', async () => {
  const { owner, connect, home, received } = await startAsked();
  const other = await connect((await newToken(home, { scope: 'view,prompt', args: ['--limit', 'full'] })).token);

  for (const client of [owner, other]) {
    for (const type of MESSAGES) await client.ok({ type, message: 'x', approvalLimit: 'full', mayLoosen: true });
    await client.ok({ type: 'get_state', approvalLimit: 'plan', mayLoosen: false });
  }

  for (const type of [...MESSAGES, 'get_state']) {
    expect(received(type).length).toBeGreaterThanOrEqual(2);
    for (const command of received(type)) {
      expect(command).not.toHaveProperty('approvalLimit');
      expect(command).not.toHaveProperty('mayLoosen');
    }
  }
});

it('[A109] a malformed limit of a client does not reach the agent', async () => {
  const { owner, limited, publish, received } = await startAsked();
  const { client } = await limited('ask');
  const malformed = [7, null, 'everything', {}, ['full'], { mode: 'full' }];

  for (const [index, approvalLimit] of malformed.entries()) {
    for (const sender of [owner, client]) {
      const refusal = await sender.refused({ type: 'prompt', message: 'x', approvalLimit });
      expect(refusal).toMatchObject({ code: 'invalid_params' });
    }
    const id = `q${index}`;
    await publish(question(id, { needs: 'plan' }));
    client.send({ type: 'extension_ui_response', id, value: OPTION_NAMES.allow_once, approvalLimit });
    await client.find((record) => record.type === 'extension_ui_resolved' && record['id'] === id);
  }
  await client.ok({ type: 'get_state' });

  expect(received('prompt')).toEqual([]);
  // A malformed answer denies the call.
  const denied = malformed.map((_limit, index) => ({ type: 'extension_ui_response', id: `q${index}` }));
  expect(received('extension_ui_response')).toMatchObject(denied);
  for (const frame of received('extension_ui_response')) {
    expect(frame).not.toHaveProperty('value');
    expect(frame['approvalLimit']).not.toEqual(expect.anything());
  }
});

it('[A110] only clients with the scope admin and without a limit may choose a looser mode', async () => {
  const { owner, connect, limited, home, received } = await startAsked();
  const prompter = await connect((await newToken(home, { scope: 'view,prompt' })).token);
  const { client: admin } = await limited('edit');
  const command = { type: 'set_approval_mode', mode: 'edit', sandbox: 'off', mayLoosen: true, approvalLimit: 'full' };

  for (const client of [owner, prompter, admin]) await client.ok(command);

  const fields = { type: 'set_approval_mode', mode: 'edit', sandbox: 'off' };
  expect(received('set_approval_mode').map(({ id: _id, ...rest }) => rest)).toEqual([
    fields,
    { ...fields, mayLoosen: false },
    { ...fields, mayLoosen: false, approvalLimit: 'edit' },
  ]);
});

it('[A110] a mode beyond the limit is refused by the server', async () => {
  const { limited, received } = await startAsked();
  const { client } = await limited('ask');

  for (const mode of ['edit', 'auto', 'full'])
    expect(await client.refused({ type: 'set_approval_mode', mode })).toMatchObject({ code: 'permission_denied' });
  for (const mode of ['plan', 'ask']) await client.ok({ type: 'set_approval_mode', mode });

  expect(received('set_approval_mode').map(({ mode }) => mode)).toEqual(['plan', 'ask']);
});

const REFUSED_COMMANDS = [
  { type: 'bash', command: 'true' },
  { type: 'set_mcp_servers', servers: {} },
  { type: 'set_trust', trusted: true },
  { type: 'set_credential', provider: 'openai', key: '!id' },
  { type: 'remove_credential', provider: 'openai' },
  { type: 'login', provider: 'anthropic' },
  { type: 'edit_queued', queueId: 'x', message: 'other' },
] as const;

it('[A111] a client with a limit is refused what starts programs or raises its rights, with all scopes', async () => {
  const { limited, home, received } = await startAsked();
  const { client, id } = await limited('auto');
  const { data } = await client.request({ type: 'hello' });
  const { commands } = (data as { supported: { commands: string[] } }).supported;

  for (const command of REFUSED_COMMANDS) {
    expect(await client.refused(command)).toMatchObject({ code: 'permission_denied' });
    expect(await client.refused({ type: command.type, command: 7 })).toMatchObject({ code: 'permission_denied' });
    expect(received(command.type)).toEqual([]);
    expect(commands).not.toContain(command.type);
  }
  const refusals = readFileSync(join(home.agentDir, 'server', 'audit-access.jsonl'), 'utf8');
  expect(refusals).toContain(`"bash","grant":"${id}"`);
});

it('[A111] a client with a limit gets an exported page from the server alone', async () => {
  const { owner, limited, home, target, received } = await startAsked();
  const { client } = await limited('plan');
  await owner.ok({ type: 'bash', command: 'true' });
  const path = join(home.cwd, 'page.html');

  const refusals = [
    await client.refused({ type: 'export_html', outputPath: path }),
    await client.refused({ type: 'prompt', message: `/export ${path}`, builtins: true }),
    await client.refused({ type: 'abort_and_prompt', message: `/export ${path}`, builtins: true }),
  ];
  const { url } = await client.ok({ type: 'export_html' });

  for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'permission_denied' });
  expect((await target.get(`/${url}`.replace('//', '/'))).status).toBe(200);
  expect(received('export_html').map(({ outputPath }) => outputPath)).not.toContain(path);
});

it('[A111] the limit full is none', async () => {
  const { limited } = await startAsked();
  const { client } = await limited('full');

  await client.ok({ type: 'bash', command: 'true' });
  await client.ok({ type: 'set_mcp_servers', servers: {} });
});

it('[A114] a client with a limit allows only calls that a mode within it would run', async () => {
  const { limited, publish, received } = await startAsked();
  const { client } = await limited('auto');
  const answer = async (id: string, value: string) => {
    client.send({ type: 'extension_ui_response', id, value, approvalLimit: 'full' });
    await client.ok({ type: 'get_state' });
  };
  await publish(
    question('within', { needs: 'edit' }),
    question('session', { needs: 'auto' }),
    question('outside', { kind: 'outside', needs: 'full' }),
    question('unknown', {}),
    question('always', { needs: 'plan' }),
    question('denied', { kind: 'outside', needs: 'full' }),
  );

  await answer('within', OPTION_NAMES.allow_once);
  await answer('session', 'allow_session-id');
  for (const id of ['outside', 'unknown'])
    for (const kind of ['allow_once', 'allow_session', 'allow_always'] as const) {
      await answer(id, OPTION_NAMES[kind]);
      await answer(id, `${kind}-id`);
    }
  await answer('always', OPTION_NAMES.allow_always);
  await answer('denied', OPTION_NAMES.reject_stop);

  const frames = received('extension_ui_response').map(({ id, value, approvalLimit }) => ({
    id,
    value,
    approvalLimit,
  }));
  expect(frames).toEqual([
    { id: 'within', value: OPTION_NAMES.allow_once, approvalLimit: 'auto' },
    { id: 'session', value: 'allow_session-id', approvalLimit: 'auto' },
    { id: 'denied', value: OPTION_NAMES.reject_stop, approvalLimit: 'auto' },
  ]);
});

it('[A114] after a refused answer the question stays open, and its sender gets the reason and the question again', async () => {
  const { owner, limited, publish, received } = await startAsked();
  const { client } = await limited('ask');
  const asked = question('q', { kind: 'outside', needs: 'full' });
  await publish(asked);
  await client.find('extension_ui_request');

  client.send({ type: 'extension_ui_response', id: 'q', value: OPTION_NAMES.allow_once });
  const error = await client.find('server_error');
  await client.ok({ type: 'get_state' });
  const open = owner.records.filter(({ type }) => type === 'extension_ui_resolved');
  owner.send({ type: 'extension_ui_response', id: 'q', value: OPTION_NAMES.allow_once });
  await client.find('extension_ui_resolved');

  expect(error).toMatchObject({ code: 'permission_denied' });
  expect(open).toEqual([]);
  const shown = client.records.filter(({ type }) => type === 'extension_ui_request');
  expect(shown).toMatchObject([asked, asked]);
  expect(client.records.indexOf(error)).toBeLessThan(client.records.indexOf(shown[1] as never));
  await expect.poll(() => received('extension_ui_response')).toHaveLength(1);
});
