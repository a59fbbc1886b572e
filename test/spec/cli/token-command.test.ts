import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Home, newHome } from '../../support/agent/test-agent.ts';
import { runTau } from '../../support/processes/program.ts';

const folderOf = (home: Home) => join(home.agentDir, 'server');
const fileOf = (home: Home) => join(folderOf(home), 'tokens.json');

/** The output of `tau token list --json`. */
async function listTokens(home: Home): Promise<Record<string, unknown>[]> {
  const { stdout } = await runTau(home, ['token', 'list', '--json']);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

it('[A9 A16] create prints only the token on stdout and stores its digest', async () => {
  const home = newHome();

  const created = await runTau(home, ['token', 'create', '--name', 'phone']);
  const table = await runTau(home, ['token', 'list']);
  const [facts] = await listTokens(home);

  expect(created).toMatchObject({ code: 0, stdout: expect.stringMatching(/^tau_[\w-]{43}\n$/) });
  expect(created.stderr).toBe(`Token ${facts?.['id']} (phone), scopes view, prompt. It is not shown again:\n`);
  const token = created.stdout.trim();
  const storedFiles = readdirSync(folderOf(home)).map((name) => readFileSync(join(folderOf(home), name), 'utf8'));
  expect(storedFiles.join()).toContain(createHash('sha256').update(token).digest('hex'));
  for (const text of [...storedFiles, table.stdout, JSON.stringify(facts)]) expect(text).not.toContain(token.slice(4));
  expect(JSON.stringify(facts)).not.toContain('sha256');
  const modes = [fileOf(home), folderOf(home)].map((path) => statSync(path).mode & 0o777);
  expect(modes).toEqual([0o600, 0o700]);
});

it('[Z81] a table is aligned by the cells of a terminal', async () => {
  const home = newHome();
  for (const name of ['深圳的筆電', 'cafe\u0301 🐚', 'plain']) await runTau(home, ['token', 'create', '--name', name]);

  const { stdout } = await runTau(home, ['token', 'list']);

  const asCells = stdout.replaceAll(/\p{M}/gu, '').replaceAll(/[\p{Script=Han}🐚]/gu, '##');
  const [head = '', ...rows] = asCells.trimEnd().split('\n');
  expect(rows).toHaveLength(3);
  for (const row of rows) expect(row.slice(head.indexOf('SCOPES'))).toMatch(/^view,prompt /);
});

it('[A8 A16] list shows the facts of each token', async () => {
  const home = newHome();
  mkdirSync(join(home.cwd, 'real'));
  symlinkSync('real', join(home.cwd, 'link'));
  const commandArgs = ['--scope', 'bash,view', '--scope', 'admin', '--path', 'link', '--path', home.root];
  const created = await runTau(home, [
    'token',
    'create',
    '--name',
    'a  b\u001b[2J',
    ...commandArgs,
    '--expires',
    '2999-01-31',
  ]);
  await runTau(home, ['token', 'create', '--name', 'other', '--expires', '12h']);

  const { stdout } = await runTau(home, ['token', 'list']);
  const [one, two] = await listTokens(home);

  expect(created.stderr).toContain('not what commands reach: those run as you');
  expect(one).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{8}$/),
    name: 'a  b\u001b[2J',
    scopes: ['view', 'bash', 'admin'],
    allowedPaths: [join(home.cwd, 'real'), home.root],
    createdAt: expect.any(String),
    expiresAt: '2999-01-31T00:00:00.000Z',
  });
  expect(Date.parse(String(two?.['expiresAt'])) - Date.parse(String(two?.['createdAt']))).toBeGreaterThan(
    11 * 3_600_000,
  );
  const [head, first, second] = stdout.split('\n');
  expect(head).toMatch(/^ID +NAME +SCOPES +CREATED +EXPIRES +LAST USED +LIMIT +PATHS$/);
  expect(first).toMatch(
    new RegExp(`^${one?.['id']}  a b\\[2J  view,bash,admin  now +2999-01-31T00:00Z +never +none +/.*/real /`),
  );
  expect(second).toMatch(/ other +view,prompt +now +\S+Z +never +none +all$/);
});

it('[A16] revoke takes an id or a unique name', async () => {
  const home = newHome();
  for (const name of ['one', 'two', 'two']) await runTau(home, ['token', 'create', '--name', name]);
  const [one, two] = await listTokens(home);

  const byName = await runTau(home, ['token', 'revoke', 'one']);
  const ambiguous = await runTau(home, ['token', 'revoke', 'two']);
  const byId = await runTau(home, ['token', 'revoke', String(two?.['id'])]);
  const missing = await runTau(home, ['token', 'revoke', 'one']);

  expect(byName).toMatchObject({ code: 0, stdout: `Revoked ${one?.['id']} (one)\n`, stderr: '' });
  expect(ambiguous).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^tau: 2 tokens are named "two": \w+, \w+\n$/),
  });
  expect(byId).toMatchObject({ code: 0 });
  expect(missing).toMatchObject({ code: 1, stdout: '', stderr: 'tau: There is no token "one"\n' });
  expect(await listTokens(home)).toMatchObject([{ name: 'two' }]);
  await runTau(home, ['token', 'revoke', 'two']);
  expect((await runTau(home, ['token', 'list'])).stdout).toBe('No tokens.\n');
});

it.each([
  ['token', 'tau token takes create, list, revoke'],
  ['token destroy', 'tau token takes create, list, revoke'],
  ['token create', 'tau token create requires --name'],
  ['token create phone', 'tau token create takes no "phone": --name it'],
  [`token create --name ${'x'.repeat(101)}`, '--name takes at most 100 characters'],
  ['token create --name x --scope view,root', '--scope must be of view, prompt, bash, admin, not "root"'],
  ['token create --name x --scope ,', '--scope must be of view, prompt, bash, admin, not ""'],
  ['token create --name x --path nowhere', '--path: there is no folder "nowhere"'],
  ['token create --name x --path file', '--path: there is no folder "file"'],
  ['token create --name x --expires soon', '--expires takes 30d, 12h, 45m or a date such as 2030-01-31, not "soon"'],
  [
    'token create --name x --expires 2999-02-30',
    '--expires takes 30d, 12h, 45m or a date such as 2030-01-31, not "2999-02-30"',
  ],
  ['token create --name x --expires 2020-01-01', '--expires: 2020-01-01 is over already'],
  ['token create --name x --json', '--json goes with tau token list'],
  ['token list --scope view', '--scope goes with tau token create'],
  ['token list all', 'tau token list takes no "all"'],
  ['token revoke', 'tau token revoke takes the id or name of a token'],
  ['token revoke a b', 'tau token revoke takes the id or name of a token'],
  ['sessions --scope view', '--scope goes with tau token'],
])('[A16] tau %s is a usage error, and nothing is written', async (commandArgs, message) => {
  const home = newHome();
  writeFileSync(join(home.cwd, 'file'), '');

  const result = await runTau(home, commandArgs.split(' '));

  expect(result).toMatchObject({
    code: 2,
    stdout: '',
    stderr: `tau: ${message} (see ${commandArgs.startsWith('token') ? 'tau help server' : 'tau --help'})\n`,
  });
  expect(existsSync(folderOf(home))).toBe(false);
});

it('[A16] a malformed tokens file is reported without quoting it, and left unchanged', async () => {
  const home = newHome();
  mkdirSync(folderOf(home), { recursive: true });
  writeFileSync(fileOf(home), '{"tokens": {"tau_secret');

  for (const commandArgs of [['create', '--name', 'x'], ['list'], ['revoke', 'x']]) {
    const { code, stdout, stderr } = await runTau(home, ['token', ...commandArgs]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^tau: tokens\.json: .*\n$/);
    expect(stderr).not.toContain('secret');
  }
  expect(readFileSync(fileOf(home), 'utf8')).toBe('{"tokens": {"tau_secret');
});

it('[A16] tokens created concurrently are all stored', async () => {
  const home = newHome();
  const names = ['a', 'b', 'c', 'd'];

  const created = await Promise.all(names.map((name) => runTau(home, ['token', 'create', '--name', name])));

  expect(new Set(created.map(({ stdout }) => stdout)).size).toBe(4);
  expect((await listTokens(home)).map(({ name }) => name).sort()).toEqual(names);
});
