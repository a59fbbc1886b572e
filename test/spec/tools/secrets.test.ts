import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Home, newHome, openTestAgent } from '../../support/agent/test-agent.ts';

const SECRET = 'sk-hunter2';
const keys = {
  ANTHROPIC_API_KEY: `${SECRET}-anthropic`,
  ANTHROPIC_OAUTH_TOKEN: `${SECRET}-oauth`,
  OPENAI_API_KEY: `${SECRET}-openai`,
  OPENROUTER_API_KEY: `${SECRET}-openrouter`,
  GEMINI_API_KEY: `${SECRET}-gemini`,
  PI_AUTH_TOKEN: `${SECRET}-server`,
};

it('[Z40] no key reaches tools, records, session files, arguments or stderr', async () => {
  const home = homeWithCredentials();
  const printEnvironment = 'env; ps -o args= -p $PPID';
  const script = [
    { toolCall: { name: 'bash', arguments: { command: printEnvironment } } },
    { text: 'That is the environment.' },
    { error: { status: 401, message: 'invalid key' } },
  ];

  const agent = await openTestAgent('stdio', {
    home,
    env: { ...keys, GREETING: 'hello tools' },
    script,
    args: ['--name', 'secrets', '--model', 'tau/scripted'],
  });
  const records = await agent.peer.run('what do you know?');
  const { output } = await agent.peer.ok({ type: 'bash', command: printEnvironment });
  await agent.peer.run('fail');
  await agent.peer.ok({ type: 'get_state' });
  await agent.peer.ok({ type: 'get_available_models' });
  await agent.close();

  expect(JSON.stringify(records)).toContain('GREETING=hello tools');
  expect(output).toContain('GREETING=hello tools');
  expect(leaks({ records: JSON.stringify(agent.peer.records), stderr: agent.process?.stderr() ?? '' })).toEqual([]);
  expect(leaks(Object.fromEntries(filesWritten(home).map((file) => [file, readFileSync(file, 'utf8')])))).toEqual([]);
});

it('[Z40] an error about a rejected or missing key does not contain the key', async () => {
  const home = homeWithCredentials();

  const agent = await openTestAgent('stdio', { home, env: keys, args: ['--model', 'xai/grok-4.7'] });
  const refusal = await agent.peer.refused({ type: 'prompt', message: 'hello' });
  await agent.close();

  expect(refusal['error']).toContain('No API key found for xai');
  expect(leaks({ records: JSON.stringify(agent.peer.records), stderr: agent.process?.stderr() ?? '' })).toEqual([]);
});

/** The names of the texts that contain a key. */
const leaks = (texts: Record<string, string>): string[] =>
  Object.keys(texts).filter((name) => texts[name]?.includes(SECRET));

/** Creates a home with stored credentials. */
function homeWithCredentials(): Home {
  const home = newHome();
  mkdirSync(home.agentDir);
  const credentials = {
    anthropic: { type: 'api_key', key: `${SECRET}-stored` },
    acme: { type: 'api_key', key: SECRET },
  };
  writeFileSync(join(home.agentDir, 'auth.json'), JSON.stringify(credentials), { mode: 0o600 });
  return home;
}

const filesWritten = ({ root }: Home): string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((name) => join(root, name))
    .filter((path) => statSync(path).isFile() && !path.endsWith('auth.json'));
