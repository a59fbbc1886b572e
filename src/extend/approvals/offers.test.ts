import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decide } from './decide.ts';
import { type OfferContext, optionsFor } from './offers.ts';
import { plainCommands } from './plain-commands.ts';
import { commandRuleText } from './rule-text.ts';
import { bash, CWD, calling, connecting, policyWith, reading, writing } from './testing/policy.ts';

const optionsOf = (facts: OfferContext['facts'], changed: Partial<OfferContext> = {}) =>
  optionsFor({ facts, cwd: CWD, isCut: false, isTrustedProgram: () => true, ...changed });
const namesOf = (...args: Parameters<typeof optionsOf>) => optionsOf(...args).map(({ name }) => name);
const rulesOf = (...args: Parameters<typeof optionsOf>) => optionsOf(...args).flatMap(({ rule }) => rule ?? []);

it('a command can be allowed once, for the session or always, and denied', () => {
  expect(optionsOf(bash('npm  test'))).toEqual([
    { optionId: 'allow-once', name: 'Allow once', kind: 'allow_once' },
    { optionId: 'allow-session', name: 'Allow for this session', kind: 'allow_session' },
    { optionId: 'allow-always-1', name: 'Always allow: npm test', kind: 'allow_always', rule: 'bash(npm test)' },
    { optionId: 'deny', name: 'Deny', kind: 'reject_once' },
    { optionId: 'deny-stop', name: 'Deny and stop', kind: 'reject_stop' },
  ]);
});

it('each command of a line has a rule of its own, and cd into the own folder has none', () => {
  expect(namesOf(bash('npm test && npm run lint')).slice(2, 4)).toEqual([
    'Allow once, and always allow: npm test',
    'Allow once, and always allow: npm run lint',
  ]);
  expect(namesOf(bash(`cd ${CWD} && npm test`))[2]).toBe('Always allow: npm test');
  expect(namesOf(bash('npm test; npm test'))[2]).toBe('Always allow: npm test');
  expect(namesOf(bash('npm test; rm x'))[2]).toBe('Allow once, and always allow: npm test');
  expect(rulesOf(bash('a 1; a 2; a 3; a 4; a 5'))).toHaveLength(4);
});

it('few subcommands are offered with any further words', () => {
  expect(rulesOf(bash('git status -s'))).toEqual(['bash(git status *)']);
  expect(rulesOf(bash('cargo test x'))).toEqual(['bash(cargo test *)']);
  expect(rulesOf(bash('git diff HEAD'))).toEqual(['bash(git diff HEAD)']);
});

it.each([
  'python3 -m pytest',
  'python3.11 a',
  'node a.js',
  '/usr/bin/node a.js',
  'bash -c a',
  'sh a',
  'env a',
  'sudo a',
  'xargs a',
  'find .',
  'git',
  'git -c x=y diff',
  'git config a b',
  'npm run',
  'npm run -s x',
  'npm exec a',
  'npx a',
  'npm',
  'rm a',
  'curl x',
  'ssh x',
  'docker ps',
  'cd x && npm test',
  'npm test > x',
  `a ${'b'.repeat(200)}`,
])('%s cannot be saved', (line) => {
  expect(rulesOf(bash(line))).toEqual([]);
});

it('outside of the sandbox, only few programs can be saved, and lines that are not plain only once', () => {
  expect(rulesOf(bash('git push', true))).toEqual(['bash:outside(git push)']);
  expect(rulesOf(bash('git status', true))).toEqual(['bash:outside(git status)']);
  expect(rulesOf(bash('npm test', true))).toEqual([]);
  expect(rulesOf(bash('./git push', true))).toEqual([]);
  expect(namesOf(bash('git push > x', true))).toEqual(['Allow once', 'Deny', 'Deny and stop']);
  expect(namesOf(bash('git push > x'))).toEqual(['Allow once', 'Allow for this session', 'Deny', 'Deny and stop']);
});

it('a program that the model may have put into PATH is allowed once', () => {
  expect(namesOf(bash('npm test'), { isTrustedProgram: () => false })).toEqual(['Allow once', 'Deny', 'Deny and stop']);
});

it('what is too long to be shown is allowed once or denied', () => {
  for (const facts of [bash('a'), calling('a'), writing(`${CWD}/a`), connecting('a')])
    expect(namesOf(facts, { isCut: true })).toEqual(['Allow once', 'Deny']);
});

it('nothing is saved against a rule that asks', () => {
  expect(rulesOf(bash('git push'), { askedBy: 'bash(git push *)' })).toEqual([]);
});

it('files, hosts and tools have rules, as far as rules can name them', () => {
  expect(optionsOf(writing(`${CWD}/src/a*.ts`))[2]).toMatchObject({
    name: 'Always allow: edits of src/a*.ts',
    rule: 'edit(src/a\\*.ts)',
  });
  expect(rulesOf(writing(`${CWD}/a`, { isProtected: true }))).toEqual([]);
  expect(rulesOf(writing('/etc/a', { isInWritableRoot: false }))).toEqual([]);
  expect(rulesOf(writing(`${CWD}/a\u202eb`))).toEqual([]);
  expect(rulesOf(reading(`${CWD}/a`))).toEqual([]);
  expect(optionsOf(connecting('Example.com'))[2]).toMatchObject({ rule: 'network(example.com)' });
  expect(rulesOf(connecting('::1'))).toEqual(['network([::1])']);
  expect(optionsOf(calling('files__read'))[2]).toMatchObject({
    name: 'Always allow: files__read',
    rule: 'files__read',
  });
  expect(rulesOf({ ...bash('npm test'), source: 'extension' })).toEqual([]);
  expect(rulesOf(calling('a b'))).toEqual([]);
});

it('every rule that is offered allows the same call from then on, and its label names it', () => {
  const word = fc.constantFrom(
    'a',
    'npm',
    'test',
    "'*'",
    "'b c'",
    `"d'e"`,
    "'f(g)'",
    'x=1',
    "''",
    '*',
    'git',
    'status',
  );
  const line = fc
    .array(fc.oneof({ weight: 5, arbitrary: word }, { weight: 1, arbitrary: fc.constantFrom('&&', ';') }), {
      minLength: 1,
    })
    .map((words) => words.join(' '));
  const path = fc
    .stringMatching(/^[ -.0-~]{1,12}$|^[~a{]\/[ -.0-~]{1,5}$/)
    .filter((name) => !name.split('/').some((part) => part === '.' || part === '..'))
    .map((name) => writing(`${CWD}/${name}`));
  const call = fc.oneof(
    line.map((text) => bash(text)),
    path,
    fc.constantFrom(connecting('h.example'), calling('t')),
  );
  fc.assert(
    fc.property(call, (facts) => {
      const rules = rulesOf(facts);
      const policy = policyWith({ saved: rules });
      const commands = facts.subject.type === 'command' ? (plainCommands(facts.subject.command) ?? []) : [];
      const isWhole = new Set(commands.map((argv) => commandRuleText(argv, false))).size <= rules.length;
      if (rules.length > 0 && isWhole) expect(decide(facts, policy).kind).toBe('allow');
    }),
    { numRuns: 2000 },
  );
});

it('options have different names and ids', () => {
  const { length } = optionsOf(bash('npm test; npm run a; git status'));

  for (const key of ['name', 'optionId'] as const)
    expect(new Set(optionsOf(bash('npm test; npm run a; git status')).map((option) => option[key])).size).toBe(length);
});
