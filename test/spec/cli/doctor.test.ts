import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import type { Finding, Preflight } from '../../../src/protocol/generated/vocabulary.ts';
import { TAG_VARIABLE } from '../../../src/system/processes/process-table.ts';
import { type Home, newHome, openTestAgent, TAU } from '../../support/agent/test-agent.ts';
import { homeWithFiles, providerConfig } from '../../support/agent/user-files.ts';
import { runTau, startProgram } from '../../support/processes/program.ts';
import { startTauInTerminal } from '../../support/processes/terminal.ts';

async function runDoctor(home: Home, env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await runTau(home, ['doctor', '--json'], { env, input: '' });
  expect(stderr).toBe('');
  const { ok, findings } = JSON.parse(stdout) as Preflight;
  expect(code).toBe(ok ? 0 : 1);
  return { ok, findings, about: (check: string) => findings.filter((finding) => finding.check === check) };
}

const messages = (findings: readonly Finding[]) => findings.map(({ message }) => message).join('\n');

it('[U24] tau doctor prints one line per finding and exits with 0 without errors', async () => {
  const home = newHome();

  const { code, stdout, stderr } = await runTau(home, ['doctor'], { input: '' });

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(new RegExp(`^ok +tau +${packageJson.version}, protocol 1$`, 'm'));
  expect(stdout).toMatch(/^ok +shell +\/\S+$/m);
  expect(stdout).toMatch(/\n0 errors, \d+ warnings?\.\n$/);
  expect(readdirSync(home.root)).toEqual(['project']);
});

it('[U24] tau doctor uses symbols with colours, and words without', async () => {
  const home = newHome();
  const colourful = startTauInTerminal(home, ['doctor'], { env: { NO_COLOR: '' } });
  const plain = startTauInTerminal(home, ['doctor']);

  const [withColours, withoutColours] = (await Promise.all([colourful.finished, plain.finished])).map(
    ({ stdout }) => stdout,
  );

  expect(withColours).toContain('\u001B[32m✓\u001B[0m tau');
  expect(withoutColours).not.toContain('\u001B');
  expect(withoutColours).toContain('ok      tau');
});

it('[U24] tau doctor exits with 1 for an unusable model and a missing shell', async () => {
  const home = newHome();
  mkdirSync(home.agentDir);
  const settings = { defaultProvider: 'acme', defaultModel: 'large', shellPath: '/nowhere/zsh' };
  writeFileSync(join(home.agentDir, 'settings.json'), JSON.stringify(settings));

  const { ok, about } = await runDoctor(home);

  expect(ok).toBe(false);
  expect(about('model')).toMatchObject([{ status: 'error', message: expect.stringContaining('acme') }]);
  expect(about('shell')).toMatchObject([{ status: 'error', message: expect.stringContaining('shellPath') }]);
});

it.each<[string, (home: Home) => Record<string, string>, string]>([
  [
    'an agent folder below a file',
    ({ root }) => ({ PI_CODING_AGENT_DIR: join(root, 'file', 'agent') }),
    'agent folder',
  ],
  ['a missing temporary folder', () => ({ TMPDIR: '/nowhere/tmp' }), 'temporary folder'],
  ['sessions in a file', ({ root }) => ({ PI_CODING_AGENT_SESSION_DIR: join(root, 'file') }), 'session folder'],
  ['a missing home folder', () => ({ HOME: '/nowhere', PI_CODING_AGENT_DIR: '' }), ''],
])('[U25] tau doctor works with %s', async (_label, envFor, failingCheck) => {
  const home = newHome();
  writeFileSync(join(home.root, 'file'), '');

  const { findings } = await runDoctor(home, envFor(home));

  const failing = findings.filter(({ check, status }) => check === failingCheck && status !== 'ok');
  expect(failing).toHaveLength(failingCheck === '' ? 0 : 1);
  for (const { message } of failing) expect(message.length).toBeGreaterThan(20);
  expect(findings.length).toBeGreaterThan(20);
});

it('[U25] tau doctor works with malformed settings, trust and credentials, and quotes none of them', async () => {
  const home = newHome();
  for (const name of ['settings.json', 'trust.json', 'auth.json']) {
    mkdirSync(home.agentDir, { recursive: true });
    writeFileSync(join(home.agentDir, name), '{"key":sk-hunter2}', { mode: 0o644 });
  }

  const { findings, about } = await runDoctor(home, { OPENAI_API_KEY: 'sk-hunter2', NODE_OPTIONS: '--title=hunter2' });

  expect(about('settings')).toMatchObject([{ status: 'warning', message: expect.stringContaining('not valid JSON') }]);
  expect(about('auth.json')).toMatchObject([{ status: 'warning', message: expect.stringContaining('chmod 600') }]);
  expect(about('keys')).toMatchObject([{ message: expect.stringContaining('OPENAI_API_KEY') }]);
  expect(messages(about('environment'))).toContain('NODE_OPTIONS is set');
  expect(JSON.stringify(findings)).not.toContain('hunter2');
});

it('[U23] tau doctor lists usable providers and where their keys are, and runs no key command', async () => {
  const url = 'http://127.0.0.1:1';
  const home = homeWithFiles({
    models: {
      providers: {
        mine: providerConfig(url, { apiKey: '!touch ran; echo hunter2' }),
        unset: providerConfig(url, { apiKey: '$NOT_SET' }),
        free: providerConfig(url),
        bad: { baseUrl: 3 },
      },
    },
    auth: { groq: { type: 'api_key', key: 'hunter2' }, wrong: 'hunter2' },
    settings: { enabledModels: ['free/*'] },
  });

  const { ok, findings, about } = await runDoctor(home, { ANTHROPIC_API_KEY: 'hunter2' });

  expect(ok).toBe(true);
  expect(about('model')).toMatchObject([{ status: 'ok', message: 'free/m' }]);
  expect(about('providers')).toEqual([
    {
      check: 'providers',
      status: 'ok',
      message:
        'Usable: anthropic (ANTHROPIC_API_KEY), groq (auth.json: groq.key), mine (models.json: providers.mine.apiKey), free (needs no key)',
    },
    {
      check: 'providers',
      status: 'warning',
      message: 'unset cannot be used. models.json: providers.unset.apiKey: The environment variable NOT_SET is not set',
    },
  ]);
  expect(messages(about('model files'))).toMatch(
    /^models\.json: providers\.bad\.baseUrl .*\nauth\.json: wrong .*file$/,
  );
  expect(messages(about('models.json'))).toBe(join(home.agentDir, 'models.json'));
  expect(JSON.stringify(findings)).not.toContain('hunter2');
  expect(readdirSync(home.agentDir).sort()).toEqual(['auth.json', 'models.json', 'settings.json']);
});

it('[U26] tau doctor names the process that holds a session', async () => {
  const agent = await openTestAgent('stdio');
  await agent.peer.run('hello');
  const [path = ''] = agent.sessionFiles();
  const before = readFileSync(path, 'utf8');

  const during = await runDoctor(agent.home);
  await agent.close();
  const after = await runDoctor(agent.home);

  expect(messages(during.about('locks'))).toBe(`process ${agent.process?.pid} holds ${path}`);
  expect(messages(during.about('sessions'))).toMatch(/^1 session of \S+ \wB stored$/);
  expect(messages(after.about('locks'))).toBe('No session is in use');
  expect(readFileSync(path, 'utf8')).toBe(before);
});

it('[U26] tau doctor counts leftover files and processes, and removes none', async () => {
  const home = newHome();
  const temporary = join(home.root, 'tmp');
  const trash = join(home.agentDir, 'sessions', '--project--', 'trash');
  for (const folder of [temporary, trash]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(temporary, 'pi-bash-0123456789abcdef.log'), 'x'.repeat(2048));
  execFileSync('mkfifo', [join(temporary, 'tau-0123456789abcdef-1')]);
  writeFileSync(join(trash, 'old.jsonl'), 'x'.repeat(1024));
  const orphan = spawn('sleep', ['1000'], { env: { [TAG_VARIABLE]: `${endedPid().toString(36)}-x:family:1` } });
  onTestFinished(() => void orphan.kill('SIGKILL'));

  const { ok, about } = await runDoctor(home, { TMPDIR: temporary });

  expect(ok).toBe(true);
  expect(messages(about('output logs'))).toBe(`1 in ${temporary}, 2 KB`);
  expect(messages(about('pipes'))).toContain('tau-0123456789abcdef-1');
  expect(messages(about('trash'))).toContain('1 file of 1 KB');
  expect(messages(about('processes'))).toContain(String(orphan.pid));
  expect(readdirSync(temporary)).toHaveLength(2);
  expect(statSync(join(trash, 'old.jsonl')).size).toBe(1024);
});

it('[U25] tau doctor works in a deleted folder', async () => {
  const home = newHome();
  const removeAndRun = 'rmdir "$PWD" && exec "$0" "$1" doctor --json';
  const removed = join(home.root, 'gone');
  mkdirSync(removed);

  const { code, stdout } = await startProgram({ ...home, cwd: removed }, [
    'sh',
    '-c',
    removeAndRun,
    process.execPath,
    TAU,
  ]).finished;

  expect(code).toBe(1);
  const { findings } = JSON.parse(stdout) as Preflight;
  expect(findings.find(({ check }) => check === 'working folder')).toMatchObject({ status: 'error' });
});

// A machine on which user namespaces are refused.
const WITHOUT_NAMESPACES = ['--unshare-user', '--disable-userns', '--dev-bind', '/', '/', '--'];
const canRefuse = spawnSync('bwrap', [...WITHOUT_NAMESPACES, 'true']).status === 0;

it.runIf(canRefuse)('[A154] where no sandbox works, tau doctor names the reason and the remedy', async () => {
  const home = newHome();
  const doctor = async (...flags: readonly string[]) => {
    const command = ['bwrap', ...WITHOUT_NAMESPACES, process.execPath, TAU, 'doctor', '--json', ...flags];
    const { code, stdout } = await startProgram(home, command, { input: '' }).finished;
    const { findings } = JSON.parse(stdout) as Preflight;
    return { code, found: findings.filter(({ check }) => check === 'sandbox') };
  };

  const optional = await doctor();
  const required = await doctor('--sandbox', 'required');
  const external = await doctor('--sandbox', 'external');

  const message = expect.stringMatching(/namespace.*To confine commands, allow user namespaces/is);
  expect(optional).toEqual({ code: 0, found: [{ check: 'sandbox', status: 'warning', message }] });
  expect(required).toEqual({ code: 1, found: [{ check: 'sandbox', status: 'error', message }] });
  expect(external).toMatchObject({ code: 0, found: [{ status: 'ok' }] });
});

it.runIf(canRefuse)('[A154] where a sandbox works, tau doctor reports its engine and leaves no file', async () => {
  const home = newHome();

  const { about } = await runDoctor(home);

  expect(about('sandbox')).toEqual([{ check: 'sandbox', status: 'ok', message: 'bubblewrap works' }]);
  expect(readdirSync(home.root)).toEqual(['project']);
  expect(readdirSync(home.cwd)).toEqual([]);
});

it('[A154] tau doctor names rules that make no sense and a malformed file of approvals', async () => {
  const home = homeWithFiles({ settings: { approvals: { deny: ['bash(a && b)'], ask: ['bash(git push *)'] } } });
  writeFileSync(join(home.agentDir, 'approvals.json'), '{"hunter2', { mode: 0o644 });

  const { ok, findings, about } = await runDoctor(home);

  expect(ok).toBe(true);
  expect(about('approvals').map(({ status }) => status)).toEqual(['warning', 'warning']);
  expect(messages(about('approvals'))).toContain('deny rule "bash(a && b)"');
  expect(messages(about('approvals'))).toContain(`${join(home.agentDir, 'approvals.json')}: `);
  expect(about('approvals.json')).toMatchObject([{ status: 'warning', message: expect.stringContaining('chmod 600') }]);
  expect(JSON.stringify(findings)).not.toContain('hunter2');
});

/** The pid of a process that has ended. */
const endedPid = () => Number(execFileSync('sh', ['-c', 'echo $$'], { encoding: 'utf8' }));
