import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { userExtension } from '../../support/agent/extensions.ts';
import { authFile, OPENAI_TOKEN, openaiUser } from '../../support/agent/signed-in.ts';
import { type Home, newHome } from '../../support/agent/test-agent.ts';
import { homeWithFiles } from '../../support/agent/user-files.ts';
import { runTau } from '../../support/processes/program.ts';
import { CTRL_C, CTRL_D, ENTER, startTauInTerminal } from '../../support/processes/terminal.ts';
import { IssuerDouble } from '../../support/providers/issuer-double.ts';

const SECRET = 'sk-hunter2';

const stored = (home: Home) => existsSync(join(home.agentDir, 'auth.json'));

describe('[L70] tau login', () => {
  it('stores an API key that is typed without echo', async () => {
    const home = newHome();
    const terminal = startTauInTerminal(home, ['login', 'groq']);
    await terminal.waitForScreen('API key for groq');

    terminal.type(SECRET + ENTER);
    const { code } = await terminal.finished;

    expect(code).toBe(0);
    expect(authFile(home)).toEqual({ groq: { type: 'api_key', key: SECRET } });
    expect(terminal.screen()).toContain('The key for groq is stored.');
    expect(terminal.stdout()).not.toContain(SECRET);
  });

  it('lists the providers and lets the user choose one, and a method where there are two', async () => {
    const home = newHome();
    const terminal = startTauInTerminal(home, ['login'], { columns: 200, height: 100 });
    await terminal.waitForScreen('Log in to which provider?');
    expect(terminal.screen()).toContain('1. openai: OpenAI (ChatGPT plan)');
    terminal.type(`xai${ENTER}`);
    await terminal.waitForScreen('2. Enter an API key');
    terminal.type(`2${ENTER}`);
    await terminal.waitForScreen('API key for xai');

    terminal.type(SECRET + ENTER);

    expect(await terminal.finished).toMatchObject({ code: 0 });
    expect(authFile(home)).toEqual({ xai: { type: 'api_key', key: SECRET } });
  });

  it('signs in with a device code and prints the address on a line of its own', async () => {
    const issuer = await IssuerDouble.start();
    const home = homeWithFiles({ models: { providers: { xai: { signIn: { issuer: issuer.url } } } } });
    const terminal = startTauInTerminal(home, ['login', 'xai']);
    await terminal.waitForScreen('1. Sign in');

    terminal.type(`1${ENTER}`);
    const { code } = await terminal.finished;

    expect(code).toBe(0);
    const lines = terminal.screen().split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([`${issuer.url}/device`, 'ABCD-1234', 'Signed in to xAI (Grok plan).']),
    );
    expect(authFile(home).xai).toMatchObject({ type: 'oauth' });
  });

  it('signs in to the provider of an extension', async () => {
    const home = newHome();
    userExtension(
      home,
      'acme.ts',
      `export default (pi) => pi.registerProvider('acme', {
         baseUrl: 'http://127.0.0.1:1', api: 'openai-completions', models: [{ id: 'm' }],
         oauth: {
           name: 'Acme',
           async login({ onPrompt }) {
             return { access: await onPrompt({ message: 'Name?' }), refresh: 'r', expires: Date.now() + 3600000 };
           },
           refreshToken: async (credential) => credential, getApiKey: ({ access }) => access,
         },
       });`,
    );
    const terminal = startTauInTerminal(home, ['login', 'acme']);
    await terminal.waitForScreen('1. Sign in');
    terminal.type(`1${ENTER}`);
    await terminal.waitForScreen('Name?');

    terminal.type(`Ann${ENTER}`);

    expect(await terminal.finished).toMatchObject({ code: 0 });
    expect(authFile(home).acme).toMatchObject({ type: 'oauth', access: 'Ann' });
  });

  it('signs in with a pasted address', async () => {
    const { issuer, home, auth } = await openaiUser();
    const terminal = startTauInTerminal(home, ['login', 'openai'], {
      columns: 1000,
      env: { PI_OAUTH_CALLBACK_HOST: '127.9.8.7' },
    });
    await terminal.waitForScreen('1. Sign in');
    terminal.type(`1${ENTER}`);
    await terminal.waitForScreen('Paste the address');
    const [url = ''] = terminal.screen().match(/^http:\S+authorize\S+$/m) ?? [];

    terminal.type(issuer.approve(url, { client_id: 'issued-1' }) + ENTER);

    expect(await terminal.finished).toMatchObject({ code: 0 });
    expect(auth().openai).toMatchObject({ type: 'oauth', clientId: 'issued-1' });
  });

  it.each([
    ['Ctrl-C', CTRL_C, 130],
    ['Ctrl-D', CTRL_D, 1],
  ])('ends with %s and stores nothing', async (_what, key, code) => {
    const home = newHome();
    const terminal = startTauInTerminal(home, ['login', 'groq']);
    await terminal.waitForScreen('API key for groq');

    terminal.type(key);

    expect(await terminal.finished).toMatchObject({ code });
    expect(stored(home)).toBe(false);
  });

  it('rejects a key that is not one word', async () => {
    const home = newHome();
    const terminal = startTauInTerminal(home, ['login', 'groq'], { columns: 200 });
    await terminal.waitForScreen('API key for groq');

    terminal.type(`two words${ENTER}`);

    expect(await terminal.finished).toMatchObject({ code: 1 });
    expect(terminal.screen()).toContain('A key is one word');
    expect(stored(home)).toBe(false);
  });

  it('refuses to run without a terminal, and reports an unknown provider', async () => {
    const home = newHome();

    const piped = await runTau(home, ['login', 'groq'], { input: `${SECRET}\n` });
    const terminal = startTauInTerminal(home, ['login', 'gorq'], { columns: 200 });
    const unknown = await terminal.finished;

    expect(piped).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('tau login needs a terminal') });
    expect(unknown.code).toBe(2);
    expect(terminal.screen()).toContain('Unknown provider: gorq, did you mean groq?');
    expect(stored(home)).toBe(false);
  });

  it('refuses the sign-in of a Claude plan, and takes a key instead', async () => {
    const home = newHome();
    const terminal = startTauInTerminal(home, ['login', 'anthropic']);
    await terminal.waitForScreen('API key for anthropic');

    terminal.type(SECRET + ENTER);

    expect(await terminal.finished).toMatchObject({ code: 0 });
    expect(authFile(home)).toEqual({ anthropic: { type: 'api_key', key: SECRET } });
  });
});

describe('[L71] tau logout', () => {
  const entries = () => ({
    groq: { type: 'api_key', key: SECRET },
    openai: { type: 'oauth', access: 'a', refresh: 'r', expires: 1 },
  });

  it('removes the key or sign-in of the named provider', async () => {
    const home = homeWithFiles({ auth: entries() });

    const first = await runTau(home, ['logout', 'openai']);
    const again = await runTau(home, ['logout', 'openai']);

    expect(first).toMatchObject({ code: 0, stdout: 'The credential for openai is removed.\n' });
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('holds no credential for openai') });
    expect(authFile(home)).toEqual({ groq: entries().groq });
  });

  it('lets the user choose among the stored ones', async () => {
    const home = homeWithFiles({ auth: entries() });
    const terminal = startTauInTerminal(home, ['logout']);
    await terminal.waitForScreen('2. openai');

    terminal.type(`1${ENTER}`);

    expect(await terminal.finished).toMatchObject({ code: 0 });
    expect(Object.keys(authFile(home))).toEqual(['openai']);
    expect(await runTau(home, ['logout'])).toMatchObject({ code: 1 });
  });
});

describe('[L72] tau auth', () => {
  it('check reports every stored credential, and fails if one cannot be used', async () => {
    // Later than any date.
    const xai = { type: 'oauth', access: 'a', refresh: 'r', expires: 9e15 };
    const others = { groq: { type: 'api_key', key: SECRET }, xai };
    const { issuer, home } = await openaiUser({ leftMs: -1, others });

    const good = await runTau(home, ['auth', 'check']);
    issuer.respond(OPENAI_TOKEN, { status: 400, body: { error: 'invalid_grant' } });
    const bad = await runTau(home, ['auth', 'check', '--min-expiry', '2h']);

    expect(good.code).toBe(0);
    expect(good.stdout).toMatch(
      /^groq: API key\nxai: signed in with a plan\nopenai: signed in with a plan, renewed after \d{4}-\d\d-\d\dT\d\d:\d\dZ\n$/,
    );
    expect(bad.code).toBe(1);
    expect(bad.stdout).toContain('Run: tau login openai');
    expect(good.stdout + bad.stdout).not.toContain(SECRET);
  });

  it('print-api-key prints the resolved key', async () => {
    const home = homeWithFiles({ auth: { groq: { type: 'api_key', key: '$MY_KEY' } } });

    expect(await runTau(home, ['auth', 'print-api-key', 'groq'], { env: { MY_KEY: SECRET } })).toMatchObject({
      code: 0,
      stdout: `${SECRET}\n`,
    });
    expect(await runTau(home, ['auth', 'print-api-key', 'xai'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('No API key found for xai'),
    });
  });

  it('print-bearer-token prints a token that lives long enough', async () => {
    const { issuer, home, auth } = await openaiUser({ leftMs: 20 * 60_000 });
    const before = auth().openai.access;

    const current = await runTau(home, ['auth', 'print-bearer-token', 'openai']);
    const renewed = await runTau(home, ['auth', 'print-bearer-token', 'openai', '--min-expiry', '30m']);
    const tooLong = await runTau(home, ['auth', 'print-bearer-token', 'openai', '--min-expiry', '2d']);

    expect(current).toMatchObject({ code: 0, stdout: `${before}\n` });
    expect(renewed.code).toBe(0);
    expect(renewed.stdout).not.toBe(current.stdout);
    expect(tooLong).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('does not live that long') });
    expect(issuer.renewals).toBe(2);
  });

  it.each([
    [['auth'], 'tau auth takes check, print-api-key, print-bearer-token'],
    [['auth', 'print-api-key'], 'tau auth print-api-key requires a provider'],
    [['auth', 'check', 'a', 'b'], 'tau auth check takes one provider'],
    [['auth', 'check', '--min-expiry', 'soon'], '--min-expiry takes 90s, 45m, 12h or 30d, not "soon"'],
  ])('%j is a wrong command line', async (args, message) => {
    expect(await runTau(newHome(), args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });
});
