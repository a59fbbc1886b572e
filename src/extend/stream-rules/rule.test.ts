import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readRules } from './rule.ts';
import { ruleFiles } from './rule-files.ts';

/** A user and a project with these files. */
function locationsWith(files: Record<string, string>) {
  const root = mkdtempSync(join(tmpdir(), 'tau-rules-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return { root, agentDir: join(root, 'agent'), cwd: join(root, 'project') };
}

function read(files: Record<string, string>, trusted = true) {
  const { root, ...locations } = locationsWith(files);
  const { rules, warnings } = readRules(ruleFiles({ ...locations, trusted }).files);
  const here = (text: string) => text.replaceAll(`${root}/`, '');
  return {
    rules: rules.map(({ facts }) => ({ ...facts, path: here(facts.path) })),
    warnings: warnings.map(here),
  };
}

const rule = (text: string, more = '') => `---\ncondition: x\n${more}---\n${text}`;

it('a rule carries all fields of its front matter', () => {
  const text = [
    '---',
    'name: types',
    'description: No any',
    "condition: [': any\\b', 'as any']",
    'scope: text, edit(*.{ts,tsx})',
    'globs: "src/**"',
    'interruptMode: never',
    'alwaysApply: true',
    '---',
    'Never use any.',
  ].join('\n');

  expect(read({ 'agent/rules/a.md': text })).toEqual({
    rules: [
      {
        name: 'types',
        path: 'agent/rules/a.md',
        content: 'Never use any.',
        description: 'No any',
        condition: [': any\\b', 'as any'],
        scope: ['text', 'edit(*.{ts,tsx})'],
        globs: ['src/**'],
        interruptMode: 'never',
      },
    ],
    warnings: [],
  });
});

it('missing fields get defaults', () => {
  expect(read({ 'agent/rules/short.md': rule('Text') }).rules).toEqual([
    { name: 'short', path: 'agent/rules/short.md', content: 'Text', condition: ['x'], scope: ['text', 'tool'] },
  ]);
});

it('project rules override user rules of the same name, and .pi overrides .pi/agent', () => {
  const { rules } = read({
    'agent/rules/one.md': rule('user one'),
    'agent/rules/two.md': rule('user two'),
    'agent/rules/three.md': rule('user three'),
    'project/.pi/agent/rules/one.md': rule('inner one'),
    'project/.pi/agent/rules/two.md': rule('inner two'),
    'project/.pi/rules/other.md': rule('project one', 'name: one\n'),
  });

  expect(rules.map(({ name, content }) => [name, content])).toEqual([
    ['one', 'project one'],
    ['two', 'inner two'],
    ['three', 'user three'],
  ]);
});

it('the rules of an untrusted project are ignored', () => {
  const files = { 'agent/rules/one.md': rule('user'), 'project/.pi/rules/one.md': rule('project') };

  expect(read(files, false).rules.map(({ content }) => content)).toEqual(['user']);
});

it('a disabled rule is left out and still overrides others of its name', () => {
  const files = {
    'agent/rules/off.md': rule('user'),
    'project/.pi/rules/off.md': rule('off', 'enabled: false\n'),
    'agent/rules/plain.md': 'Just text',
    'agent/rules/empty.md': '---\ncondition: ""\nscope: te xt\n---\nText',
    'agent/rules/notes.txt': rule('no rule'),
  };

  expect(read(files)).toEqual({ rules: [], warnings: [] });
});

it.each([
  ['a: [1', 'front matter is no YAML'],
  ['condition: "("', 'the condition ( is no regular expression'],
  ['condition: {a: 1}', 'condition must be a text or a list of texts'],
  ['condition: [1]', 'condition must be a text or a list of texts'],
  ['condition: x\nscope: te xt', 'the scope te xt is not known'],
  ['condition: x\nscope: 3', 'scope must be a text or a list of texts'],
  ['condition: x\ninterruptMode: maybe', 'interruptMode must be one of always, never, prose-only, tool-only'],
  [`condition: x\nglobs: "${'{a,b}'.repeat(9)}"`, 'Too many alternatives'],
  [`condition: [${'x,'.repeat(51)}]`, 'there are more than 50 conditions'],
])('a file with %.40s gives a warning, and the others load', (head, reason) => {
  const { rules, warnings } = read({
    'agent/rules/bad.md': `---\n${head}\n---\nText`,
    'agent/rules/good.md': rule('Text'),
  });

  expect(rules.map(({ name }) => name)).toEqual(['good']);
  expect(warnings).toEqual([expect.stringMatching(/^agent\/rules\/bad\.md: .*; the rule is left out$/)]);
  expect(warnings[0]).toContain(reason);
});

it('a rule without a body uses its description; without both it gives a warning', () => {
  const { rules, warnings } = read({
    'agent/rules/a.md': rule('', 'description: Words\n'),
    'agent/rules/b.md': rule(''),
    'agent/rules/c.md': rule('x'.repeat(20_001)),
  });

  expect(rules.map(({ content }) => content)).toEqual(['Words']);
  expect(warnings).toEqual([
    'agent/rules/b.md: the rule has no text; the rule is left out',
    'agent/rules/c.md: the rule is longer than 20000 characters; the rule is left out',
  ]);
});

it('a folder in place of a file gives a warning; a file in place of the folder yields no rules', () => {
  const locations = locationsWith({ 'agent/rules/a.md/b': '', 'project/.pi/rules': 'not a folder' });
  const { files, warnings } = ruleFiles({ ...locations, trusted: true });

  expect(warnings).toEqual([]);
  expect(readRules(files).warnings).toEqual([expect.stringContaining('a.md: the file cannot be read')]);
});

it('the number of rule files is limited', () => {
  const names = Array.from({ length: 201 }, (_, at) => `agent/rules/${1000 + at}.md`);
  const { root: _, ...locations } = locationsWith(Object.fromEntries(names.map((name) => [name, rule('Text')])));

  const { files, warnings } = ruleFiles({ ...locations, trusted: false });

  expect(files).toHaveLength(200);
  expect(warnings).toEqual([expect.stringMatching(/1200\.md: there are more than 200 files of rules/)]);
});
