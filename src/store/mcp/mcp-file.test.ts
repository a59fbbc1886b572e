import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../testing/temp-folder.ts';
import { isToolHidden, type McpEntry, parseMcpEntry, readMcpFiles } from './mcp-file.ts';

const program = { command: 'server' };

const EXPOSURE_PROBLEM = '.exposure must be one of "codemode", "codemode-deferred", "deferred", "direct", "hidden"';

function read(files: Record<string, unknown>, trusted = true) {
  const root = tempFolder();
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify({ mcpServers: content }));
  }
  const { servers, problems, unused } = readMcpFiles({
    agentDir: join(root, 'agent'),
    cwd: join(root, 'cwd'),
    trusted,
  });
  const relative = (texts: readonly string[]) => texts.map((text) => text.replaceAll(`${root}/`, ''));
  return {
    servers: Object.fromEntries(servers),
    problems: relative(problems),
    unused: relative(unused),
    folder: (name: string) => join(root, name),
  };
}

it('no file yields no servers', () => {
  expect(read({})).toMatchObject({ servers: {}, problems: [] });
  expect(read({ 'agent/mcp.json': '{}' })).toMatchObject({ servers: {}, problems: [] });
});

it('[N68] a timeout below 1000 counts seconds, as in pi', () => {
  const timeoutOf = (timeout: number) => parseMcpEntry('x', { command: 'a', timeout });

  expect([timeoutOf(60), timeoutOf(999), timeoutOf(1000)]).toMatchObject([
    { timeoutMs: 60_000 },
    { timeoutMs: 999_000 },
    { timeoutMs: 1000 },
  ]);
});

it('the older transport and the settings of a sign-in are read', () => {
  const oauth = { clientId: 'mine', clientSecret: '$SECRET', callbackUrl: 'http://localhost:7777/back' };

  expect(parseMcpEntry('x', { type: 'sse', url: 'https://a/', oauth })).toEqual({
    url: 'https://a/',
    isSse: true,
    oauth,
    disabled: false,
  });
  expect(parseMcpEntry('x', { url: 'https://a/', oauth: false })).toMatchObject({ oauth: false });
});

it('programs and URLs are read, with comments, and unknown fields are reported', () => {
  const { servers, problems, unused, folder } = read({
    'agent/mcp.json': `{ // mine
      "mcpServers": {
        "files": { "type": "stdio", "command": "server", "args": ["-v"], "env": { "KEY": "$KEY" }, "cwd": "x", "icon": 1 },
        "web": { "type": "streamable-http", "url": "https://mcp.test/x", "headers": { "X-Key": "!key" }, "timeout": 5000 },
        "off": { "command": "server", "disabled": true },
        "off too": { "enabled": false },
      },
    }`,
  });

  expect(problems).toEqual([]);
  expect(unused).toEqual(['agent/mcp.json: tau does not use mcpServers.files.icon']);
  expect(servers).toEqual({
    files: {
      command: 'server',
      args: ['-v'],
      env: { KEY: '$KEY' },
      cwd: 'x',
      disabled: false,
      folder: folder('agent'),
    },
    web: {
      url: 'https://mcp.test/x',
      headers: { 'X-Key': '!key' },
      timeoutMs: 5000,
      disabled: false,
      folder: folder('agent'),
    },
    off: { command: 'server', disabled: true, folder: folder('agent') },
    'off too': { disabled: true, folder: folder('agent') },
  });
});

const everywhere = {
  'agent/mcp.json': { a: program, b: program, c: program },
  'cwd/.pi/agent/mcp.json': { b: { command: 'agent' }, c: { command: 'agent' } },
  'cwd/.pi/mcp.json': { c: { disabled: true } },
};

it('[N30] a trusted project overrides servers by name, the nearest file first', () => {
  const { servers } = read(everywhere);

  expect(servers).toMatchObject({ a: program, b: { command: 'agent' }, c: { command: 'agent', disabled: true } });
});

it('[N71] a project entry without command, url and type changes only use and exposure of the server', () => {
  const { servers, problems, unused, folder } = read({
    'agent/mcp.json': {
      off: { ...program, env: { KEY: '$KEY' }, timeout: 5 },
      on: { ...program, disabled: true, exposure: 'hidden' },
      limited: { url: 'https://a/', toolExposure: { x: 'hidden' } },
      bad: { disabled: true, url: 'file:///a' },
    },
    'cwd/.pi/mcp.json': {
      off: { enabled: false, timeout: 7, cwd: '/' },
      on: { enabled: true },
      limited: { exposure: 'hidden', toolExposure: { y: 'direct' } },
      bad: { enabled: true },
      unknown: { enabled: true },
      free: { enabled: false },
    },
  });

  expect(servers).toEqual({
    off: { ...program, env: { KEY: '$KEY' }, timeoutMs: 5000, disabled: true, folder: folder('agent') },
    on: { ...program, exposure: 'hidden', disabled: false, folder: folder('agent') },
    limited: {
      url: 'https://a/',
      exposure: 'hidden',
      toolExposure: { y: 'direct' },
      disabled: false,
      folder: folder('agent'),
    },
    bad: { url: 'file:///a', disabled: true, folder: folder('agent') },
    free: { disabled: true, folder: folder('cwd/.pi') },
  });
  expect(problems).toEqual([
    'cwd/.pi/mcp.json: mcpServers.bad.url must be an http or https URL, without a password',
    'cwd/.pi/mcp.json: mcpServers.unknown needs a command or a url',
  ]);
  expect(unused).toEqual(['cwd/.pi/mcp.json: tau does not use mcpServers.off.timeout, mcpServers.off.cwd']);
});

it('[N70] fields of pi that tau does not use are reported, those of a sign-in and of the file too', () => {
  const { unused } = read({
    'agent/mcp.json': JSON.stringify({
      autoEnableCodemode: false,
      mcpServers: {
        web: { url: 'https://a/', auth: { provider: 'x' }, description: 'd', oauth: { clientRegistration: 'dcr' } },
      },
    }),
  });

  expect(unused).toEqual([
    'agent/mcp.json: tau does not use autoEnableCodemode',
    'agent/mcp.json: tau does not use mcpServers.web.auth, mcpServers.web.description, mcpServers.web.oauth.clientRegistration',
  ]);
});

it.each([
  [{}, 'read', false],
  [{ exposure: 'codemode-deferred' }, 'read', false],
  [{ exposure: 'hidden' }, 'read', true],
  [{ exposure: 'hidden', toolExposure: { read: 'direct' } }, 'read', false],
  [{ toolExposure: { 're*': 'hidden' } }, 'read', true],
  [{ toolExposure: { 're*': 'hidden' } }, 'write', false],
  [{ toolExposure: { '*': 'hidden', read: 'deferred' } }, 'read', false],
] as const)('[N70] %j hides the tool %s: %s', (exposure, tool, hidden) => {
  expect(isToolHidden(parseMcpEntry('x', { command: 'a', ...exposure }) as McpEntry, tool)).toBe(hidden);
});

it.each(['http://[::1]:7777/back', 'http://localhost/x', 'http://127.0.0.1:1/'])(
  '[N72] %s is a redirect address',
  (callbackUrl) => {
    expect(parseMcpEntry('x', { url: 'https://a/', oauth: { callbackUrl } })).toMatchObject({ oauth: { callbackUrl } });
  },
);

it('[N30] files of an untrusted project are ignored and reported', () => {
  const { servers, problems } = read(everywhere, false);

  expect(servers).toMatchObject({ a: program, b: program, c: program });
  expect(problems).toEqual([
    'cwd/.pi/agent/mcp.json is left out: the project is not trusted',
    'cwd/.pi/mcp.json is left out: the project is not trusted',
  ]);
});

it("the user's own file counts in any folder", () => {
  const root = tempFolder();
  const agentDir = join(root, '.pi', 'agent');
  mkdirSync(agentDir, { recursive: true });
  writeFileSync(join(agentDir, 'mcp.json'), JSON.stringify({ mcpServers: { a: program } }));

  const { servers, problems } = readMcpFiles({ agentDir, cwd: root, trusted: false });

  expect([[...servers.keys()], problems]).toEqual([['a'], []]);
});

it.each([
  ['{', 'agent/mcp.json: '],
  ['[]', 'agent/mcp.json: the file must hold an object'],
  ['{"mcpServers": []}', 'agent/mcp.json: mcpServers must be an object'],
])('a malformed file is ignored: %s', (content, problem) => {
  const { servers, problems } = read({ 'agent/mcp.json': content, 'cwd/.pi/mcp.json': { a: program } });

  expect(servers).toMatchObject({ a: program });
  expect(problems).toEqual([expect.stringContaining(problem)]);
});

it.each([
  [null, ' must be an object'],
  [{}, ' needs a command or a url'],
  [{ command: '' }, '.command must not be empty'],
  [{ command: 7 }, '.command must be a string'],
  [{ command: 'a', url: 'http://a' }, ' has both a command and a url: one of them is meant'],
  [{ command: 'a', args: 'b' }, '.args must be an array'],
  [{ command: 'a', args: [1] }, '.args[0] must be a string'],
  [{ command: 'a', env: [] }, '.env must be an object'],
  [{ command: 'a', env: { A: 1 } }, '.env.A must be a string'],
  [{ command: 'a', env: { 'A=B': '1' } }, '.env must hold only names of variables'],
  [{ command: 'a', timeoutMs: 0 }, '.timeoutMs must be at least 1'],
  [{ command: 'a', type: 'http' }, '.type must be stdio'],
  [{ url: 'http://a', type: 'ws' }, '.type must be http or streamable-http or streamableHttp or sse'],
  [{ url: 'http://a', oauth: { callbackUrl: 'https://b/' } }, '.oauth.callbackUrl must be an http URL on this machine'],
  [{ url: 'file:///a' }, '.url must be an http or https URL, without a password'],
  [{ url: 'http://me:secret@a' }, '.url must be an http or https URL, without a password'],
  [{ url: 'http://a', headers: { 'a b': '1' } }, '.headers must hold only names that HTTP allows'],
  [{ url: 'http://a', headers: { a: null } }, '.headers.a must be a string'],
  [{ disabled: 'yes' }, '.disabled must be true or false'],
  [{ command: 'a', exposure: 'none' }, EXPOSURE_PROBLEM],
  [{ command: 'a', toolExposure: { x: true } }, `.toolExposure.x${EXPOSURE_PROBLEM.replace('.exposure', '')}`],
])('an invalid server is ignored alone: %j', (value, problem) => {
  expect(parseMcpEntry('servers.x', value)).toBe(`servers.x${problem}`);
  expect(read({ 'agent/mcp.json': { x: value, fine: program } })).toMatchObject({
    servers: { fine: program },
    problems: [`agent/mcp.json: mcpServers.x${problem}`],
  });
});
