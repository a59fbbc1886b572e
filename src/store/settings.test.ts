import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSettings, sortSettings } from './settings.ts';
import { tempFolder } from './testing/temp-folder.ts';

function files(contents: Record<string, unknown>) {
  const root = tempFolder();
  for (const [name, content] of Object.entries(contents)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return { root, agentDir: join(root, 'agent'), cwd: join(root, 'project'), trusted: true };
}

it('settings that share a name with a method of objects are not used', () => {
  const values = { compaction: { enabled: true, toString: 1 }, constructor: { name: 1 }, valueOf: 2 };

  expect(sortSettings(values)).toEqual({
    used: ['compaction.enabled'],
    unused: ['compaction.toString', 'constructor', 'valueOf'],
  });
});

describe('readSettings', () => {
  it('returns no settings and no warnings when there are no files', () => {
    expect(readSettings(files({}))).toEqual({ settings: {}, warnings: [] });
  });

  it('reads every known key', () => {
    const settings = {
      defaultProvider: 'mock',
      defaultModel: 'm1',
      defaultThinkingLevel: 'high',
      steeringMode: 'all',
      followUpMode: 'one-at-a-time',
      interruptMode: 'immediate',
      enabledModels: ['a/*', 'b'],
      shellPath: '/bin/zsh',
      shellCommandPrefix: 'set -e;',
      sessionDir: '/srv/sessions',
      defaultProjectTrust: 'always',
      compaction: { enabled: false, reserveTokens: 1, keepRecentTokens: 2 },
      retry: { enabled: true, maxRetries: 0, baseDelayMs: 5, maxDelayMs: 6.5 },
      'todo.enabled': false,
      'todo.reminders': false,
      'todo.reminders.max': 0,
      'tasks.todoClearDelay': -1,
    };

    const read = readSettings(files({ 'agent/settings.json': settings }));

    expect(read).toEqual({ settings, warnings: [] });
  });

  it('accepts packages by source, or with the parts to include', () => {
    const packages = ['npm:a', { source: './b', extensions: [], skills: ['x'], prompts: ['!y'] }];

    expect(readSettings(files({ 'agent/settings.json': { packages } })).settings).toEqual({ packages });
    expect(readSettings(files({ 'agent/settings.json': { packages: [{ extensions: [] }] } })).warnings).toEqual([
      expect.stringMatching(/packages.*it is ignored$/),
    ]);
  });

  it('lets the project override, `.pi/` over `.pi/agent/`, merging objects one level and replacing lists', () => {
    const source = files({
      'agent/settings.json': { defaultModel: 'a', enabledModels: ['a'], retry: { maxRetries: 1, baseDelayMs: 1 } },
      'project/.pi/agent/settings.json': { defaultModel: 'b', shellPath: '/b', retry: { maxRetries: 2 } },
      'project/.pi/settings.json': { defaultModel: 'c', enabledModels: ['c'], retry: { maxDelayMs: 3 } },
    });

    expect(readSettings(source).settings).toEqual({
      defaultModel: 'c',
      enabledModels: ['c'],
      shellPath: '/b',
      retry: { maxRetries: 2, baseDelayMs: 1, maxDelayMs: 3 },
    });
  });

  it("combines the skills and prompt templates of all files, relative to each file's folder", () => {
    const source = files({
      'agent/settings.json': { skills: ['mine', '~/theirs', '/srv/skills', ''], prompts: ['a.md'] },
      'project/.pi/settings.json': {
        skills: ['../tools/skills', '-skills/old', '+skills/b', '!skills/c*', '!draft-*'],
      },
    });
    const { root, agentDir } = source;

    expect(readSettings(source)).toEqual({
      settings: {
        skills: [
          join(agentDir, 'mine'),
          join(homedir(), 'theirs'),
          '/srv/skills',
          join(root, 'project/tools/skills'),
          `-${join(root, 'project/.pi/skills/old')}`,
          `+${join(root, 'project/.pi/skills/b')}`,
          `!${join(root, 'project/.pi/skills/c*')}`,
          '!draft-*',
        ],
        prompts: [join(agentDir, 'a.md')],
      },
      warnings: [],
    });
  });

  it('does not read the files of an untrusted project', () => {
    const source = files({ 'agent/settings.json': { defaultModel: 'a' }, 'project/.pi/settings.json': '{' });

    expect(readSettings({ ...source, trusted: false })).toEqual({ settings: { defaultModel: 'a' }, warnings: [] });
  });

  it('keeps unknown keys silently and leaves the file unchanged', () => {
    const text = '{ "theme": "dark", "compaction": {"modelOverrides": {}}, "__proto__": {"defaultModel": "x"} }';
    const source = files({ 'agent/settings.json': text });

    const { settings, warnings } = readSettings(source);
    expect(settings).toEqual({ theme: 'dark', compaction: { modelOverrides: {} } });
    expect(settings.defaultModel).toBeUndefined();
    expect(warnings).toEqual([]);
    expect(readFileSync(join(source.agentDir, 'settings.json'), 'utf8')).toBe(text);
  });

  it.each([
    [{ todo: { enabled: false, reminders: false }, tasks: { todoClearDelay: 5 } }],
    [{ 'todo.enabled': false, todo: { enabled: true, reminders: false }, tasks: { todoClearDelay: 5 } }],
  ])('reads dotted names in groups, too: %j', (written) => {
    const read = readSettings(files({ 'agent/settings.json': written }));

    const settings = { 'todo.enabled': false, 'todo.reminders': false, 'tasks.todoClearDelay': 5 };
    expect(read).toEqual({ settings, warnings: [] });
  });

  it.each([
    [{ todo: { reminders: { max: 2 } } }],
    [{ todo: { 'reminders.max': 2 } }],
    [{ 'todo.reminders': { max: 2 } }],
  ])('accepts a group for a name that is a prefix of another: %j', (written) => {
    const read = readSettings(files({ 'agent/settings.json': written }));

    expect(read).toEqual({ settings: { 'todo.reminders.max': 2 }, warnings: [] });
  });

  it('merges dotted names of several files, whether dotted or grouped', () => {
    const source = files({
      'agent/settings.json': { todo: { enabled: false, reminders: 'no' }, 'todo.reminders.max': 1.5 },
      'project/.pi/settings.json': { 'todo.enabled': true, tasks: { todoClearDelay: 1e12 } },
    });

    const { settings, warnings } = readSettings(source);

    expect(settings).toEqual({ 'todo.enabled': true });
    expect(warnings).toEqual([
      `${join(source.agentDir, 'settings.json')}: todo.reminders must be true or false; it is ignored`,
      `${join(source.agentDir, 'settings.json')}: todo.reminders.max must be a whole number; it is ignored`,
      `${join(source.cwd, '.pi/settings.json')}: tasks.todoClearDelay must be at most 2147483; it is ignored`,
    ]);
  });

  it('drops a value of the wrong type alone and names file and key', () => {
    const source = files({
      'agent/settings.json': {
        defaultModel: 7,
        defaultProvider: 'mock',
        steeringMode: 'some',
        enabledModels: ['a', 1],
        compaction: { enabled: 'yes', reserveTokens: 5 },
        retry: [],
        shellPath: null,
      },
    });
    const file = join(source.agentDir, 'settings.json');

    const { settings, warnings } = readSettings(source);

    expect(settings).toEqual({ defaultProvider: 'mock', compaction: { reserveTokens: 5 } });
    expect(warnings).toEqual([
      `${file}: defaultModel must be a string; it is ignored`,
      `${file}: steeringMode must be one of "all", "one-at-a-time"; it is ignored`,
      `${file}: enabledModels[1] must be a string; it is ignored`,
      `${file}: shellPath must be a string; it is ignored`,
      `${file}: compaction.enabled must be true or false; it is ignored`,
      `${file}: retry must be an object; it is ignored`,
    ]);
  });

  it('keeps the value of a weaker file when the stronger one is invalid', () => {
    const source = files({
      'agent/settings.json': { defaultModel: 'a' },
      'project/.pi/settings.json': { defaultModel: false },
    });

    expect(readSettings(source).settings).toEqual({ defaultModel: 'a' });
  });

  it.each([
    ['{"defaultModel":', 'Unexpected end of JSON input'],
    ['[]', 'the file must hold an object'],
    ['null', 'the file must hold an object'],
    ['', 'Unexpected end of JSON input'],
    ['{"defaultModel":sk-secret}', "Unexpected token 's': not valid JSON; the file is ignored"],
  ])('ignores a file that holds %j', (text, reason) => {
    const source = files({ 'agent/settings.json': text, 'project/.pi/settings.json': { defaultModel: 'c' } });

    const { settings, warnings } = readSettings(source);

    expect(settings).toEqual({ defaultModel: 'c' });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(`${join(source.agentDir, 'settings.json')}: ${reason}`);
  });

  it('warns of a folder at the path of the file', () => {
    const source = files({ 'agent/settings.json/inner': '' });

    const { settings, warnings } = readSettings(source);

    expect(settings).toEqual({});
    expect(warnings[0]).toContain('this is not a file');
  });

  it('reads one file once when the home folder is the project', () => {
    const source = files({ 'home/.pi/agent/settings.json': '{' });
    const home = join(source.root, 'home');

    expect(readSettings({ agentDir: join(home, '.pi/agent'), cwd: home, trusted: true }).warnings).toHaveLength(1);
  });

  it('expands ~ in paths', () => {
    const source = files({ 'agent/settings.json': { sessionDir: '~/s', shellPath: '~/bin/sh' } });

    expect(readSettings(source).settings).toEqual({
      sessionDir: join(homedir(), 's'),
      shellPath: join(homedir(), 'bin/sh'),
    });
  });
});
