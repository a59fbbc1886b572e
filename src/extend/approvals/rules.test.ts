import { expect, it } from 'vitest';
import { decide } from './decide.ts';
import { parseRules } from './rules.ts';
import { bash, CWD, calling, connecting, policyWith, reading, type TestRules, writing } from './testing/policy.ts';

const context = { list: 'allow', home: '/home/me' } as const;

it('rules that make no sense are named, and the others count', () => {
  const wrong = [
    '',
    'bash(',
    'bash()',
    'bash( )',
    'bash(a && b)',
    'bash(npm:*)',
    'bash(git * push)',
    'bash(echo $x)',
    'bash(cd *)',
    'bash(A=b c)',
    'Bash(npm test)',
    'Edit',
    'edit(../x)',
    'network(a b)',
    'todo(x)',
    'files__read(x)',
    'files__*(x)',
    'read:outside(x)',
    'a b',
    'x y(z)',
    '**',
    `edit(${'{a,b}'.repeat(9)})`,
  ];

  const { rules, warnings } = parseRules([...wrong, 'bash(npm test)'], context);

  expect(rules.map(({ text }) => text)).toEqual(['bash(npm test)']);
  expect(warnings).toEqual(wrong.map((text) => expect.stringContaining(`allow rule ${JSON.stringify(text)}: `)));
});

it('rules beyond the limit are named', () => {
  const { rules, warnings } = parseRules(Array<string>(1001).fill('a'), context);

  expect(rules).toHaveLength(1000);
  expect(warnings).toEqual([expect.stringContaining('1000')]);
});

it('commands that are never plain can be denied, but not allowed', () => {
  expect(parseRules(['bash(eval *)'], { ...context, list: 'deny' }).warnings).toEqual([]);
  expect(parseRules(['bash(eval *)'], context).rules).toEqual([]);
});

const isAllowed = (rule: string, facts: Parameters<typeof decide>[0], rules: TestRules = {}) =>
  decide(facts, policyWith({ ...rules, allow: [rule] })).kind === 'allow';

it.each([
  [
    'bash(git diff *)',
    ['git diff', 'git diff HEAD -- a', '  git   "diff"  HEAD'],
    ['git difftool', 'git -c x=y diff', './git diff', 'git', 'xgit diff'],
  ],
  [
    'bash(npm test)',
    ['npm test', "npm 'test'"],
    ['npm test -- -u', 'npm', 'npm test && curl x', 'npm test > x', 'NPM test', 'npm Test'],
  ],
  [
    'bash(a *)',
    ['a', 'a b c', 'a | a b'],
    ['a && rm -rf /', 'a; b', 'a | b', 'a || b', 'a & b', 'a $(b)', 'a\nb', 'b a'],
  ],
  ["bash(grep 'a b' '*')", ["grep 'a b' '*'"], ["grep 'a b' c", 'grep a b *']],
  ['bash(*)', ['a', 'a b | c'], ['a > b', 'cd x', 'eval a']],
  ['bash', ['a', 'a > b; cd x', '$x'], []],
  ['bash(./run.sh)', ['./run.sh'], ['run.sh', 'x/run.sh']],
  ['bash(npm test)', ['cd /srv/app && npm test', 'cd . ; npm test'], ['cd /srv && npm test']],
])('%s allows %j, but not %j', (rule, allowed, others) => {
  for (const line of allowed) expect([line, isAllowed(rule, bash(line))]).toEqual([line, true]);
  for (const line of others) expect([line, isAllowed(rule, bash(line))]).toEqual([line, false]);
});

it('several rules together allow a line', () => {
  const policy = policyWith({ allow: ['bash(npm test)', 'bash(npm run lint)'] });

  expect(decide(bash('npm test && npm run lint'), policy)).toEqual({ kind: 'allow', rule: 'bash(npm run lint)' });
  expect(decide(bash('npm test && curl x'), policy)).toEqual({ kind: 'ask', about: 'tool' });
});

it('no rule allows a program that the model may have put into PATH; those of the shell itself need no PATH', () => {
  const policy = policyWith({ allow: ['bash(*)'] }, { isTrustedProgram: (name) => name !== 'npm' });

  expect(decide(bash('npm test'), policy).kind).toBe('ask');
  expect(decide(bash('git status; npm test'), policy).kind).toBe('ask');
  expect(decide(bash('git status'), policy).kind).toBe('allow');
  expect(decide(bash('echo a'), { ...policy, isTrustedProgram: () => false }).kind).toBe('allow');
});

it('a rule for outside that allows has no wildcard for words; one that denies may', () => {
  const parse = (list: 'allow' | 'ask' | 'deny') =>
    parseRules(['bash:outside(git push *)'], { list, home: '/home/me' });

  expect(parse('allow')).toEqual({ rules: [], warnings: [expect.stringContaining('cannot end with *')] });
  expect(parse('deny').rules).toHaveLength(1);
  expect(parse('ask').rules).toHaveLength(1);
});

it.each([
  ...['env A=1 sudo x', '/usr/bin/timeout 5 sudo x', 'find . -exec /bin/sudo x +', 'ls | xargs -n 1 sudo'],
  ...["env -S 'sudo x'", 'bash -c "sudo x"', "script -qc 'cd a && sudo x'"],
])('a rule that denies covers the program that another one runs: %s', (line) => {
  expect(isDenied('bash(sudo *)', bash(line))).toBe(true);
  expect(isDenied('bash(su *)', bash(line))).toBe(false);
});

it('words that are arguments of other programs are not denied', () => {
  expect(isDenied('bash(sudo *)', bash('echo sudo x'))).toBe(false);
});

it('only bash:outside takes a command out of the sandbox', () => {
  expect(isAllowed('bash', bash('git push', true))).toBe(false);
  expect(isAllowed('*', bash('git push', true))).toBe(false);
  expect(isAllowed('bash(git push)', bash('git push', true))).toBe(false);
  expect(isAllowed('bash:outside(git push)', bash('git push', true))).toBe(true);
  expect(isAllowed('bash:outside(git push)', bash('git push'))).toBe(true);
  expect(isAllowed('bash:outside(git push)', bash('git push -f', true))).toBe(false);
  expect(isAllowed('bash:outside', bash('a > b', true))).toBe(true);
});

it.each([
  ['edit(src/**)', ['src/a', 'src/b/c', 'src/.env'], ['a', 'lib/src/a', 'srcs/a', '../src/a']],
  ['edit(*.md)', ['a.md'], ['docs/a.md']],
  ['edit(**/*.{ts,md})', ['a.ts', 'b/c/d.md'], ['a.js']],
  ['edit(./a)', ['a'], ['b/a']],
  ['edit(a\\*)', ['a*'], ['ab']],
  ['edit(/data/**)', ['../../data/x'], ['data/x']],
  ['edit(~/notes/*)', ['../../home/me/notes/x'], ['notes/x', '../../home/you/notes/x']],
])('%s allows to edit and write %j, but not %j', (rule, allowed, others) => {
  const fileIn = (path: string) => new URL(path, `file://${CWD}/`).pathname;
  for (const path of allowed) expect([path, isAllowed(rule, writing(fileIn(path)))]).toEqual([path, true]);
  for (const path of allowed) expect([path, isAllowed(rule, writing(fileIn(path), {}, 'edit'))]).toEqual([path, true]);
  for (const path of others) expect([path, isAllowed(rule, writing(fileIn(path)))]).toEqual([path, false]);
});

it('a folder whose name only begins like the project is not in it', () => {
  expect(isAllowed('edit(**)', writing(`${CWD}lication/a`))).toBe(false);
});

it('a rule must name a protected folder to allow a change in it, and no rule allows files with other names', () => {
  const hook = writing(`${CWD}/.git/hooks/x`, { isProtected: true });

  for (const rule of ['edit', 'edit(**)', '*', 'edit(/srv/app/**)']) expect(isAllowed(rule, hook)).toBe(false);
  expect(isAllowed('edit(.git/**)', hook)).toBe(true);
  expect(isAllowed('edit', writing('/etc/x', { isInWritableRoot: false }))).toBe(false);
  expect(isAllowed('edit(/etc/x)', writing('/etc/x', { isInWritableRoot: false }))).toBe(true);
  expect(isAllowed('edit(/etc/x)', writing('/etc/x', { hasOtherNames: true }))).toBe(false);
});

it('rules for hosts name the host or the domain, and perhaps the port', () => {
  expect(isAllowed('network(example.com)', connecting('Example.COM.', 80))).toBe(true);
  expect(isAllowed('network(example.com)', connecting('a.example.com'))).toBe(false);
  expect(isAllowed('network(*.example.com)', connecting('a.b.example.com'))).toBe(true);
  expect(isAllowed('network(127.0.0.1)', connecting('127.0.0.1'))).toBe(true);
  for (const wildcard of ['network', 'network(*)', 'network(*.0.0.1)'])
    expect(isAllowed(wildcard, connecting('127.0.0.1'))).toBe(false);
  expect(isAllowed('network(*.example.com)', connecting('example.com'))).toBe(false);
  expect(isAllowed('network(*.example.com)', connecting('badexample.com'))).toBe(false);
  expect(isAllowed('network(example.com:443)', connecting('example.com', 443))).toBe(true);
  expect(isAllowed('network(example.com:443)', connecting('example.com', 22))).toBe(false);
  expect(isAllowed('network([::1]:80)', connecting('::1', 80))).toBe(true);
  expect(isAllowed('network', connecting('any.example'))).toBe(true);
  expect(isAllowed('bash', connecting('example.com'))).toBe(false);
  expect(isAllowed('*', connecting('example.com'))).toBe(false);
});

it('a tool counts by its source and its name', () => {
  expect(isAllowed('files__read_*', calling('files__read_file'))).toBe(true);
  expect(isAllowed('files__read_*', calling('files__write_file'))).toBe(false);
  expect(isAllowed('files__read_*', calling('files__read_'))).toBe(true);
  for (const rule of ['bash', 'ba*', '*', 'bash(a)', 'bash(*)'])
    for (const source of ['extension', 'mcp', 'host'] as const) {
      const other = { ...bash('a'), source };
      expect([rule, source, isAllowed(rule, other)]).toEqual([rule, source, source === 'host']);
      expect(decide(other, policyWith({ deny: ['bash'] }, { mode: 'full' })).kind).toBe('deny');
    }
});

const isDenied = (rule: string, facts: Parameters<typeof decide>[0]) =>
  decide(facts, policyWith({ deny: [rule], allow: ['*'] }, { mode: 'full' })).kind === 'deny';

it.each([
  [
    'bash(sudo *)',
    ['sudo ls', 'true; sudo ls', '/usr/bin/sudo ls', 'x=$(sudo ls)', 'su""do > x', '(\\sudo a)', 'a\nsudo b'],
    ['echo sudo', 'sudoku'],
  ],
  [
    'bash(git push *)',
    ['git push', 'a && git push -f', 'git push > x', 'cd x && git push'],
    ['git status', 'git stash push'],
  ],
  ['bash(git push)', ['git push', 'git push $x'], ['git push origin']],
  ['bash(eval *)', ['eval a', 'a; eval "$b"'], ['evaluate a']],
])('%s denies %j, but not %j', (rule, denied, others) => {
  for (const line of denied) expect([line, isDenied(rule, bash(line))]).toEqual([line, true]);
  for (const line of denied) expect([line, isDenied(rule, bash(line, true))]).toEqual([line, true]);
  for (const line of others) expect([line, isDenied(rule, bash(line))]).toEqual([line, false]);
});

it('a rule against reading holds for every tool that shows or changes the file, by every name', () => {
  const rule = 'read(**/.env)';
  for (const name of ['read', 'grep', 'find', 'ls']) expect(isDenied(rule, reading(`${CWD}/a/.env`, name))).toBe(true);
  expect(isDenied(rule, writing(`${CWD}/.env`, {}, 'edit'))).toBe(true);
  expect(isDenied(rule, writing(`${CWD}/.env`))).toBe(true);
  expect(isDenied(rule, reading(`${CWD}/.env`, 'read', `${CWD}/link`))).toBe(true);
  expect(isDenied(rule, reading('/elsewhere/x', 'read', `${CWD}/.env`))).toBe(true);
  expect(isDenied(rule, reading(`${CWD}/.envrc`))).toBe(false);
  expect(isDenied('edit(src/**)', reading(`${CWD}/src/a`))).toBe(false);
});

it('bash:outside denies only outside', () => {
  expect(isDenied('bash:outside(git *)', bash('git push', true))).toBe(true);
  expect(isDenied('bash:outside(git *)', bash('git push'))).toBe(false);
});
