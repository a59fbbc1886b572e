import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scriptArgs } from '../../support/agent/test-agent.ts';
import { type Fifo, makeFifo } from '../../support/processes/fifo.ts';
import { runTau } from '../../support/processes/program.ts';
import { answersOf, bash, CONFINED, openConfined, resultOf } from '../../support/sandbox/confined-agent.ts';
import { LOOPBACK_HOST, startLoopbackHost } from '../../support/sandbox/loopback-host.ts';
import { makeRepository, newUserHome } from '../../support/sandbox/user-home.ts';
import { itConfined, missingSandbox } from '../../support/sandbox/working-sandbox.ts';

// The host that the user of these tests has allowed.
const ALLOWED = { sandbox: { domains: [LOOPBACK_HOST] } };

const STATUS = "-o body -w '%{http_code} '";

itConfined('[A148] a new host is questioned once, and reached after an approval for the session', async () => {
  const host = await startLoopbackHost({ files: { '/a': 'served' } });
  const get = bash(`curl -s ${host.url}/a`);
  const { start, settled, question, questions, answer, run } = await openConfined({ runs: [[get, get], [get]] });

  await start();
  const asked = await question();
  answer(asked, 'allow_session');
  const first = await settled();
  const second = await run();

  expect(asked.approval).toMatchObject({
    kind: 'network',
    toolName: 'bash',
    subject: { type: 'host', host: LOOPBACK_HOST, port: host.port },
  });
  expect([...first, ...second]).toEqual(Array(3).fill({ isError: false, text: 'served' }));
  expect(questions()).toHaveLength(1);
  expect(host.requests()).toEqual(Array(3).fill('GET /a'));
});

itConfined('[A148] a denied host gets 403 with its name, and is questioned again', async () => {
  const get = bash(`curl -s ${STATUS} http://registry.example.com/; cat body`);
  const secure = bash("curl -s -w '%{http_connect} ' https://registry.example.com/; true");
  const { start, settled, question, questions, answer } = await openConfined({ runs: [[get, secure]] });

  await start();
  answer(await question(), 'reject_once');
  answer(await question(), 'reject_once');
  const [plain, tunnel] = await settled();

  expect(plain?.text).toMatch(/^403 .*registry\.example\.com/);
  expect(tunnel?.text).toBe('403 ');
  expect(questions().map(({ approval: { subject } }) => subject)).toEqual([
    { type: 'host', host: 'registry.example.com', port: 80 },
    { type: 'host', host: 'registry.example.com', port: 443 },
  ]);
});

itConfined('[A148] where no client can answer, a new host gets 403 at once', async () => {
  const home = newUserHome();
  const script = scriptArgs(home, answersOf([bash(`curl -s ${STATUS} http://registry.example.com/ > status; true`)]));

  const { code } = await runTau(home, ['-p', ...CONFINED, ...script, 'go'], { input: '' });

  expect(code).toBe(0);
  expect(readFileSync(join(home.cwd, 'status'), 'utf8')).toBe('403 ');
  expect(readFileSync(join(home.cwd, 'body'), 'utf8')).toContain('registry.example.com');
});

itConfined('[A148] at most 20 hosts are questioned at a time; allowed ones are reached meanwhile', async () => {
  const host = await startLoopbackHost({ files: { '/a': 'served' } });
  const home = newUserHome();
  const [gate, ended] = ['gate', 'ended'].map((name) => makeFifo(join(home.cwd, name))) as [Fifo, Fifo];
  const many = 'for i in $(seq 20); do curl -s http://host$i.example.com/ & done; read -r _ < gate';
  const more = `curl -s http://host21.example.com/ > more; curl -s ${host.url}/a > reached; echo > ended; wait; true`;
  const { start, settled, questions, answer } = await openConfined({
    home,
    settings: ALLOWED,
    runs: [[bash(`${many}; ${more}`)]],
  });

  await start();
  const goOn = await gate.reader();
  await expect.poll(() => questions().length).toBe(20);
  await goOn();
  await ended.text();
  for (const question of questions()) answer(question, 'reject_once');
  const [result] = await settled();

  const [refused, reached] = ['more', 'reached'].map((name) => readFileSync(join(home.cwd, name), 'utf8'));
  expect(refused).toContain('does not allow connections to host21.example.com');
  expect(reached).toBe('served');
  expect(result?.text.match(/does not allow connections to host\d+\.example\.com/g)).toHaveLength(20);
  expect(questions()).toHaveLength(20);
});

itConfined('[A155] a background job of a run with a limit gets no host without a question afterwards', async () => {
  const host = await startLoopbackHost({ files: { '/a': 'served' } });
  const home = newUserHome();
  const [gate, got] = ['gate', 'got'].map((name) => makeFifo(join(home.cwd, name))) as [Fifo, Fifo];
  const job = `(read -r _ < gate; curl -s ${host.url}/a > got) & true`;
  const { peer, question, answer } = await openConfined({
    home,
    args: ['--approvals', 'full', '--sandbox', 'required'],
    runs: [[bash(job)]],
  });
  await peer.greeted();
  await peer.ok({ type: 'prompt', message: 'go', approvalLimit: 'auto' });
  await peer.next('agent_settled');

  await (await gate.reader())();
  const response = got.text();
  answer(await question(), 'reject_once');

  expect(await response).toContain('does not allow');
  expect(host.requests()).toEqual([]);
});

itConfined('[A148] parallel requests for one host wait for one question', async () => {
  const host = await startLoopbackHost({ files: { '/a': 'served' } });
  const gets = `for i in 1 2 3 4; do curl -s ${host.url}/a & done; wait`;
  const { start, settled, question, questions, answer } = await openConfined({ runs: [[bash(gets)]] });

  await start();
  answer(await question(), 'allow_session');
  const [result] = await settled();

  expect(result?.text).toBe('served'.repeat(4));
  expect(questions()).toHaveLength(1);
});

itConfined('[A148] an allowed name that leads to this machine or its network is refused', async () => {
  const host = await startLoopbackHost({ files: { '/a': 'served' } });
  const names = ['localhost', 'ip6-localhost'];
  const get = (name: string) => `curl -s --noproxy '' ${STATUS} http://${name}:${host.port}/a; cat body; echo`;
  const settings = { sandbox: { domains: names } };

  const { text } = await resultOf(bash(names.map(get).join('\n')), { settings });

  expect(text).toMatch(/^403 .*localhost/);
  expect(text).not.toContain('served');
  expect(host.requests()).toEqual([]);
});

itConfined('[A148] nothing is reached past the proxy, neither the host nor its names', async () => {
  const host = await startLoopbackHost({ files: { '/a': 'served' } });
  const socket = `import socket; socket.create_connection(("${LOOPBACK_HOST}", ${host.port}), 5)`;
  const attempts = [
    `curl -s --noproxy '*' --max-time 5 ${host.url}/a`,
    `env -u http_proxy -u HTTP_PROXY -u ALL_PROXY -u all_proxy curl -s --max-time 5 ${host.url}/a`,
    `bash -c 'exec 3<>/dev/tcp/${LOOPBACK_HOST}/${host.port}'`,
    `python3 -c '${socket}' 2>/dev/null`,
    'getent hosts example.com',
    "python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)' 2>/dev/null",
  ];
  const command = attempts.map((attempt) => `${attempt} && echo reached`).join('\n');

  const { text } = await resultOf(bash(`{ ${command}\n} 2>/dev/null; exit 0`), { settings: ALLOWED });

  expect(text).not.toMatch(/reached|served/);
  expect(host.requests()).toEqual([]);
});

itConfined('[A148] with the setting network none there is no proxy, and nothing is questioned', async () => {
  const host = await startLoopbackHost({ files: { '/a': 'served' } });
  const { peer, run, questions } = await openConfined({
    settings: { sandbox: { network: 'none', domains: [LOOPBACK_HOST] } },
    env: { HTTP_PROXY: 'http://127.0.0.1:9', https_proxy: 'http://127.0.0.1:9' },
    runs: [[bash(`curl -s --max-time 5 ${host.url}/a; echo $?; env | grep -ic proxy`)]],
  });

  const [result] = await run();

  expect(result?.text).toContain('7\n0\n');
  expect((await peer.ok({ type: 'get_state' })).sandbox).toMatchObject({ network: 'none' });
  expect(questions()).toEqual([]);
});

itConfined('[A148] an approval for one session is none for the next', async () => {
  const host = await startLoopbackHost({ files: { '/a': 'served' } });
  const get = bash(`curl -s ${host.url}/a`);
  const { peer, start, settled, question, answer } = await openConfined({ runs: [[get], [get]] });
  await start();
  answer(await question(), 'allow_session');
  await settled();

  await peer.ok({ type: 'new_session' });
  await start();
  const asked = await question();
  answer(asked, 'reject_once');
  const [result] = await settled();

  expect(asked.approval.subject).toMatchObject({ type: 'host', host: LOOPBACK_HOST });
  expect(result?.text).not.toContain('served');
});

/** Programs that must use the proxy of the environment by themselves, with the text that each prints. */
const programs: [name: string, tls: boolean, command: (url: string) => string][] = [
  ['curl', false, (url) => `curl -s ${url}/a`],
  ['curl over https', true, (url) => `curl -sk ${url}/a`],
  [
    'python urllib',
    false,
    (url) => `python3 -c 'import urllib.request as r; print(r.urlopen("${url}/a").read().decode())'`,
  ],
  [
    'python urllib over https',
    true,
    (url) =>
      `python3 -c 'import ssl, urllib.request as r; print(r.urlopen("${url}/a", context=ssl._create_unverified_context()).read().decode())'`,
  ],
  ['npm', false, (url) => `npm_config_cache=/tmp/npm npm view --registry=${url} package description`],
];

const FILES = {
  '/a': 'served by the host',
  '/package': JSON.stringify({
    name: 'package',
    'dist-tags': { latest: '1.0.0' },
    versions: { '1.0.0': { name: 'package', version: '1.0.0', description: 'served by the host', dist: {} } },
  }),
};

itConfined.each(programs)('[A148] %s sends its requests through the proxy', async (_name, tls, command) => {
  const host = await startLoopbackHost({ files: FILES, tls });

  const result = await resultOf(bash(command(host.url)), { settings: ALLOWED });

  // Nothing but the proxy leads to the host.
  expect(result).toMatchObject({ isError: false, text: expect.stringContaining('served by the host') });
});

itConfined('[A148] git over https fetches through the proxy', async () => {
  const home = newUserHome();
  const repository = join(home.root, 'served');
  makeRepository(repository);
  const gitIn = (...args: string[]) => execFileSync('git', args, { cwd: repository, encoding: 'utf8' });
  gitIn('update-server-info');
  const commit = gitIn('rev-parse', 'HEAD').trim();
  const file = (name: string) => [`/a.git/${name}`, readFileSync(join(repository, '.git', name))] as const;
  const host = await startLoopbackHost({ tls: true, files: Object.fromEntries([file('info/refs'), file('HEAD')]) });

  const result = await resultOf(bash(`git -c http.sslVerify=false ls-remote ${host.url}/a.git HEAD`), {
    home,
    settings: ALLOWED,
  });

  expect(result).toEqual({ isError: false, text: `${commit}\tHEAD\n` });
});

itConfined('[A148] pip sends its requests through the proxy', async ({ skip }) => {
  if (!runs('python3', ['-m', 'pip', '--version'])) return skip('This machine has no pip');
  const host = await startLoopbackHost({ files: { '/simple/package/': '<a href="/package-1.0.0.tar.gz">x</a>' } });
  const pip = `python3 -m pip --disable-pip-version-check --no-cache-dir --retries 0`;

  await resultOf(
    bash(`${pip} download --no-deps -i ${host.url}/simple --trusted-host ${LOOPBACK_HOST} package; true`),
    {
      settings: ALLOWED,
    },
  );

  expect(host.requests()[0]).toBe('GET /simple/package/');
});

// Node reads proxies from the environment since 22.21 and 24.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const hasEnvProxy = major >= 24 || (major === 22 && minor >= 21);

it.runIf(missingSandbox === undefined && hasEnvProxy)(
  "[A148] Node's fetch sends its requests through the proxy",
  async () => {
    const host = await startLoopbackHost({ files: FILES });
    const fetching = `fetch('${host.url}/a').then((r) => r.text()).then(console.log)`;

    const result = await resultOf(bash(`'${process.execPath}' -e "${fetching}"`), { settings: ALLOWED });

    expect(result).toEqual({ isError: false, text: 'served by the host\n' });
  },
);

itConfined("[A148] Node's fetch is instructed to use the proxy, on the versions that can", async () => {
  const { text } = await resultOf(bash('echo "$NODE_USE_ENV_PROXY $HTTPS_PROXY $https_proxy"'));

  const [flag, upper, lower] = text.trim().split(' ');
  expect(flag).toBe('1');
  expect(upper).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(lower).toBe(upper);
});

function runs(program: string, args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
