import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { type Home, newGate, newHome, openTestAgent as openOn } from '../../support/agent/test-agent.ts';
import { runTau } from '../../support/processes/program.ts';
import { entry, header, shortConversation, storeSession, userEntry } from '../../support/sessions/stored-session.ts';
import { LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

/** The JSON lines embedded in the page: one about the page, then those of the session. */
function embeddedLines(file: string): Record<string, unknown>[] {
  const [, lines = ''] =
    /<script type="application\/jsonl">\n([^<]*)\n<\/script>/.exec(readFileSync(file, 'utf8')) ?? [];
  return lines
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

const modeOf = (file: string) => statSync(file).mode & 0o777;

// A server stores the page elsewhere, for download.
verifies(
  'S37',
  'export_html writes one page into the working directory, nothing else',
  async ({ open }) => {
    const { peer, home, sessionFiles } = await open({ script: [{ text: 'one <b>' }] });
    await peer.run('first </script>');

    const { path } = await peer.ok({ type: 'export_html' });

    const [session = ''] = sessionFiles();
    expect(path).toBe(`pi-session-${basename(session, '.jsonl')}.html`);
    expect(readdirSync(home.cwd)).toEqual([path]);
    const file = join(home.cwd, path);
    expect(modeOf(file)).toBe(0o600);
    const { entries, leafId } = await peer.ok({ type: 'get_entries' });
    const [about, first, ...rest] = embeddedLines(file);
    expect(about).toEqual({ leafId });
    expect(first).toMatchObject({ type: 'session', cwd: home.cwd });
    expect(rest).toEqual(entries);
  },
  LOCAL_TRANSPORTS,
);

verifies(
  'S38',
  'outputPath is where the page is written, and the response repeats it',
  async ({ open, transport }) => {
    const { peer, home } = await open({ script: [{ text: 'one' }] });
    await peer.run('first');
    mkdirSync(join(home.cwd, 'out'));
    writeFileSync(join(home.cwd, 'old.html'), '<!DOCTYPE html><title>old</title>');
    chmodSync(join(home.cwd, 'old.html'), 0o644);
    symlinkSync('out/linked.html', join(home.cwd, 'link.html'));

    for (const outputPath of ['./out/../out/page.html', 'old.html', 'link.html', join(home.root, 'Seite ü.html')]) {
      const { path } = await peer.ok({ type: 'export_html', outputPath });
      // A server returns the absolute path.
      expect(path).toBe(transport === 'websocket' ? resolve(home.cwd, outputPath) : outputPath);
    }

    const files = ['out/page.html', 'old.html', 'out/linked.html', '../Seite ü.html'].map((file) =>
      join(home.cwd, file),
    );
    expect(new Set(files.map((file) => readFileSync(file, 'utf8'))).size).toBe(1);
    expect(modeOf(join(home.cwd, 'old.html'))).toBe(0o644);
  },
  // A server checks the path itself.
  ['memory', 'websocket'],
);

verifies('S37', 'an empty session and an in-memory session cannot be exported', async ({ open }) => {
  const { peer, home } = await open();
  const inMemory = await openOn('memory', { args: ['--no-session'], script: [{ text: 'one' }] });
  await inMemory.peer.run('first');

  const nothing = await peer.refused({ type: 'export_html' });
  const memory = await inMemory.peer.refused({ type: 'export_html', outputPath: 'page.html' });

  expect(nothing).toMatchObject({ error: 'Nothing to export yet - start a conversation first', code: 'not_found' });
  expect(memory).toMatchObject({ error: 'Cannot export in-memory session to HTML', code: 'not_supported' });
  expect(readdirSync(home.cwd)).toEqual([]);
});

verifies('S38', 'an outputPath that cannot be written is rejected, and nothing is left behind', async ({ open }) => {
  const { peer, home, sessionFiles } = await open({ script: [{ text: 'one' }] });
  await peer.run('first');
  const [session = ''] = sessionFiles();
  const before = readFileSync(session, 'utf8');
  mkdirSync(join(home.cwd, 'folder'));
  writeFileSync(join(home.cwd, 'file'), 'text');

  const outputPaths = [
    'missing/page.html',
    'file/page.html',
    'folder',
    '/dev/null',
    `${'x'.repeat(300)}.html`,
    session,
    'file',
  ];
  const refusals = [];
  for (const outputPath of outputPaths) refusals.push(await peer.refused({ type: 'export_html', outputPath }));

  expect(refusals.map(({ code }) => code)).toEqual([
    'not_found',
    'not_found',
    'invalid_params',
    'invalid_params',
    'invalid_params',
    'permission_denied',
    'permission_denied',
  ]);
  expect(readFileSync(join(home.cwd, 'file'), 'utf8')).toBe('text');
  expect(readFileSync(session, 'utf8')).toBe(before);
  expect(readdirSync(home.cwd).sort()).toEqual(['file', 'folder']);
});

verifies('S43', 'an export during a run holds what is stored so far, and the run continues', async ({ open }) => {
  const gate = newGate();
  const { peer, home } = await open({ script: [{ text: 'one' }, { steps: [{ text: 'two' }, { await: gate.path }] }] });
  await peer.run('first');
  await peer.ok({ type: 'prompt', message: 'second' });
  await peer.next('message_update');

  await peer.ok({ type: 'export_html', outputPath: 'page.html' });
  gate.open();
  const settled = await peer.next('agent_settled');

  const texts = embeddedLines(join(home.cwd, 'page.html')).map((line) => JSON.stringify(line));
  expect(texts.at(-1)).toContain('second');
  expect(settled).toMatchObject({ outcome: 'ok' });
});

verifies('S37', 'the exported page opens at the leaf of the session', async ({ open }) => {
  const home = newHome();
  const lines = [...shortConversation(home.cwd), userEntry('cccccccc', null, 'another beginning')];
  const { peer } = await open({ home, args: ['--session', storeSession(home, lines)] });

  await peer.ok({ type: 'export_html', outputPath: 'page.html' });

  expect(embeddedLines(join(home.cwd, 'page.html'))[0]).toEqual({ leafId: 'cccccccc' });
});

const runExport = (home: Home, ...args: string[]) => runTau(home, ['export', ...args]);

it('[S44] tau export accepts the path of a session or the beginning of its id', async () => {
  const home = newHome();
  const session = storeSession(home, shortConversation(home.cwd));
  const name = `pi-session-${basename(session, '.jsonl')}.html`;

  const byId = await runExport(home, 'stored');
  const byPath = await runExport(home, session, 'page.html');
  const others = [
    await runTau(home, ['sessions', 'export', 'stored', 'a.html']),
    await runTau(home, ['--export', session, 'b.html']),
  ];

  expect(byId).toEqual({ code: 0, signal: null, stdout: `Exported to: ${name}\n`, stderr: '' });
  expect(byPath).toEqual({ code: 0, signal: null, stdout: 'Exported to: page.html\n', stderr: '' });
  expect(others.map(({ stdout }) => stdout)).toEqual(['Exported to: a.html\n', 'Exported to: b.html\n']);
  const [about, ...lines] = embeddedLines(join(home.cwd, 'page.html'));
  expect(about).toEqual({});
  expect(lines).toEqual(shortConversation(home.cwd));
});

verifies('S44', 'tau export only reads: the session may be open elsewhere', async ({ open }) => {
  const { peer, home, sessionFiles } = await open({ script: [{ text: 'one' }] });
  await peer.run('first');
  const [session = ''] = sessionFiles();
  const before = readFileSync(session, 'utf8');

  const result = await runExport(home, session, 'page.html');

  expect(result).toMatchObject({ code: 0, stderr: '' });
  expect(readFileSync(session, 'utf8')).toBe(before);
  expect(embeddedLines(join(home.cwd, 'page.html'))).toHaveLength(before.split('\n').length);
});

it('[S44] tau export reads old, torn and read-only sessions and leaves them unchanged', async () => {
  const home = newHome();
  const [{ version: _version, ...first }, question] = [
    header(home.cwd),
    { type: 'message', message: { role: 'user', content: 'old' } },
  ];
  const old = storeSession(home, [first, question], { name: 'old.jsonl' });
  const torn = storeSession(home, [...shortConversation(home.cwd), '{"type":"message","id":"tor'], {
    name: 'torn.jsonl',
  });
  chmodSync(torn, 0o400);
  const before = [old, torn].map((file) => readFileSync(file, 'utf8'));

  const results = [await runExport(home, old, 'old.html'), await runExport(home, torn, 'torn.html')];

  expect(results.map(({ code, stderr }) => [code, stderr])).toEqual([
    [0, ''],
    [0, ''],
  ]);
  expect(embeddedLines(join(home.cwd, 'old.html'))[2]).toMatchObject({ id: expect.any(String), parentId: null });
  expect([old, torn].map((file) => readFileSync(file, 'utf8'))).toEqual(before);
});

it('[S44] tau export reports a failure in one line', async () => {
  const home = newHome();
  const session = storeSession(home, shortConversation(home.cwd));
  const empty = storeSession(home, [header(home.cwd), entry('model_change', 'a', null)], { name: 'empty.jsonl' });
  writeFileSync(join(home.cwd, 'notes.txt'), 'no session\n');

  const failures = await Promise.all([
    runExport(home, 'nobody'),
    runExport(home, 'nowhere/a.jsonl'),
    runExport(home, 'notes.txt'),
    runExport(home, empty),
    runExport(home, session, 'missing/page.html'),
  ]);
  const misuse = await Promise.all([runExport(home), runExport(home, session, 'a.html', 'b.html')]);

  expect(failures.map(({ code, stdout }) => [code, stdout])).toEqual(failures.map(() => [1, '']));
  expect(failures.map(({ stderr }) => stderr)).toEqual([
    "tau: No session found matching 'nobody'\n",
    `tau: Session not found: ${join(home.cwd, 'nowhere/a.jsonl')}\n`,
    `tau: Not a session file: ${join(home.cwd, 'notes.txt')}\n`,
    'tau: Nothing to export yet - start a conversation first\n',
    'tau: Cannot write missing/page.html: its folder does not exist\n',
  ]);
  expect(misuse.map(({ code }) => code)).toEqual([2, 2]);
  expect(existsSync(join(home.cwd, 'page.html'))).toBe(false);
});

verifies(
  'S73',
  'export_html leaves the path of the parent session out',
  async ({ open }) => {
    const { peer, home } = await open({ script: [{ text: 'one' }] });
    await peer.run('first');
    const { sessionFile: parent } = await peer.ok({ type: 'get_state' });
    const { sessionFile } = await peer.ok({ type: 'clone' });

    const { path } = await peer.ok({ type: 'export_html', outputPath: join(home.root, 'page.html') });

    expect(JSON.parse(readFileSync(sessionFile, 'utf8').split('\n')[0] ?? '')).toMatchObject({ parentSession: parent });
    expect(readFileSync(path, 'utf8')).not.toContain(parent);
  },
  LOCAL_TRANSPORTS,
);

it.each([1, 2, 3])('[S73] tau export leaves the parent of a session of version %i out', async (version) => {
  const home = newHome();
  const parentSession = '/elsewhere/parent.jsonl';
  const session = storeSession(home, shortConversation(home.cwd, { version, parentSession }));

  await runExport(home, session, 'page.html');

  const page = join(home.cwd, 'page.html');
  expect(embeddedLines(page)[1]).toMatchObject({ type: 'session', cwd: home.cwd });
  expect(readFileSync(page, 'utf8')).not.toContain(parentSession);
});
