import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { choices } from '../../protocol/generated/choices.ts';
import type { CallFacts } from './call-facts.ts';
import { DENIED_UNASKED, decide, deniedByUser, type Policy } from './decide.ts';
import { Grants } from './grants.ts';
import { bash, CWD, calling, connecting, policyWith, reading, type TestRules, writing } from './testing/policy.ts';

const modes = choices.ApprovalMode;
const outsideFile = writing('/etc/x', { isInWritableRoot: false });

describe('without rules', () => {
  const confined = { isConfined: true };
  const external = { isExternal: true };
  it.each<[string, CallFacts, Partial<Policy>, string]>([
    ['reading', reading(`${CWD}/a`), {}, 'allow allow allow allow allow'],
    ['listing', reading('/etc', 'ls'), {}, 'allow allow allow allow allow'],
    ['writing', writing(`${CWD}/a`), {}, 'deny tool allow allow allow'],
    ['editing', writing(`${CWD}/a`, {}, 'edit'), {}, 'deny tool allow allow allow'],
    ['writing elsewhere', outsideFile, {}, 'deny path path path allow'],
    ['writing in .git', writing(`${CWD}/.git/x`, { isProtected: true }), {}, 'deny path path path allow'],
    ['writing a file with other names', writing(`${CWD}/a`, { hasOtherNames: true }), {}, 'deny path path path allow'],
    ['bash in the sandbox', bash('npm test'), confined, 'allow tool tool allow allow'],
    ['bash in the sandbox, not plain', bash('a > $b'), confined, 'allow tool tool allow allow'],
    ['bash without a sandbox', bash('npm test'), {}, 'tool tool tool tool allow'],
    ['bash in a machine that is the sandbox', bash('npm test'), external, 'tool tool tool allow allow'],
    ['bash outside', bash('npm test', true), confined, 'outside outside outside outside outside'],
    ['bash outside of no sandbox', bash('npm test', true), {}, 'outside outside outside outside allow'],
    ['a host', connecting('example.com'), confined, 'network network network network allow'],
    ['a tool of a server', calling('files__read'), confined, 'tool tool tool tool allow'],
    ["an extension's bash", { ...bash('a'), source: 'extension' }, confined, 'tool tool tool tool allow'],
    ["an extension's read", { ...reading(`${CWD}/a`), source: 'extension' }, {}, 'tool tool tool tool allow'],
    ["a client's tool", calling('choose', 'host'), {}, 'allow allow allow allow allow'],
    ['todo', calling('todo', 'builtin'), {}, 'allow allow allow allow allow'],
    ["an extension's todo", calling('todo', 'extension'), {}, 'tool tool tool tool allow'],
  ])('%s', (_, facts, changed, expected) => {
    const decisions = modes.map((mode) => decide(facts, policyWith({}, { ...changed, mode })));

    expect(decisions.map((one) => (one.kind === 'ask' ? one.about : one.kind)).join(' ')).toBe(expected);
  });
});

it('plan mode names itself, and neither rules nor grants lift it', () => {
  const facts = writing(`${CWD}/a`);
  const policy = policyWith({ allow: ['edit', 'edit(a)'], saved: ['edit(a)'] }, { mode: 'plan' });
  policy.grants.add(facts);

  expect(decide(facts, policy)).toEqual({ kind: 'deny', reason: 'Not allowed in plan mode.' });
});

it('in full mode, rules that deny or ask still hold', () => {
  const policy = policyWith({ deny: ['bash(sudo *)'], ask: ['bash(git push *)'], allow: ['bash'] }, { mode: 'full' });

  for (const line of ['sudo ls', 'true; sudo ls']) {
    const decision = decide(bash(line), policy);
    expect(decision).toEqual({ kind: 'deny', reason: expect.stringContaining('the rule bash(sudo *).') });
  }
  expect(decide(bash('a && git push -f'), policy)).toEqual({ kind: 'ask', about: 'tool', rule: 'bash(git push *)' });
  expect(decide(bash('git push > x'), policy).kind).toBe('ask');
  expect(decide(bash('git pull'), policy).kind).toBe('allow');
});

it('a line that no rule can read is asked about as soon as a command is denied, in every mode', () => {
  for (const mode of modes) {
    const policy = policyWith({ deny: ['bash(sudo *)'], allow: ['bash'] }, { mode, isConfined: true });
    expect(decide(bash('a > b'), policy)).toEqual({
      kind: 'ask',
      about: 'tool',
      rule: 'bash(sudo *)',
      isUnreadable: true,
    });
    expect(decide(bash(`a ${'b'.repeat(4000)}`), policy).kind).toBe('ask');
    expect(decide(bash('a b'), policy).kind).toBe('allow');
  }
  const outsideOnly = policyWith({ deny: ['bash:outside(sudo *)'] }, { mode: 'full' });
  expect(decide(bash('a > b'), outsideOnly).kind).toBe('allow');
  expect(decide(bash('a > b', true), outsideOnly).kind).toBe('ask');
});

it('todo is never asked about, but can be denied', () => {
  expect(decide(calling('todo', 'builtin'), policyWith({ ask: ['*'] })).kind).toBe('allow');
  expect(decide(calling('todo', 'builtin'), policyWith({ deny: ['todo'] })).kind).toBe('deny');
});

it('rules can ask about tools of clients, and deny them', () => {
  expect(decide(calling('choose', 'host'), policyWith({ ask: ['choose'] })).kind).toBe('ask');
  expect(decide(calling('choose', 'host'), policyWith({ deny: ['choose'] })).kind).toBe('deny');
});

it('a grant counts for a rule that asks, a saved approval does not', () => {
  const policy = policyWith({ ask: ['bash(git push *)'], saved: ['bash(git push)', 'bash(npm test)'] });

  expect(decide(bash('git push'), policy).kind).toBe('ask');
  policy.grants.add(bash('git push'));
  expect(decide(bash('git push'), policy).kind).toBe('allow');
  expect(decide(bash('npm test && git push'), policy).kind).toBe('allow');
  expect(decide(bash('git push -f'), policy).kind).toBe('ask');
});

it('a grant does not cover a program that the model may have put into PATH since', () => {
  const policy = policyWith();
  policy.grants.add(bash('npm test'));

  expect(decide(bash('npm test'), policy).kind).toBe('allow');
  expect(decide(bash('npm test'), { ...policy, isTrustedProgram: () => false }).kind).toBe('ask');
});

it('the texts for the model say what to do next', () => {
  expect(deniedByUser()).toBe('The user did not allow this call. Do not try it another way; say what you need.');
  expect(deniedByUser(' use npm. ')).toBe(
    'The user did not allow this call: use npm. Do not try it another way; say what you need.',
  );
  expect(DENIED_UNASKED).toContain('go on without it');
});

const anyLine = fc
  .array(
    fc.constantFrom('a', 'b', 'npm', 'test', 'sudo', '&&', ';', '|', '||', '>', '$x', "'a b'", '*', '(', '\n', 'cd'),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .map((words) => words.join(' '));
const anyPath = fc.constantFrom(`${CWD}/a`, `${CWD}/src/b`, `${CWD}/.git/c`, '/etc/d');
const anySource = fc.constantFrom('builtin' as const, 'extension' as const, 'host' as const, 'mcp' as const);
const anyCall: fc.Arbitrary<CallFacts> = fc.oneof(
  fc.tuple(anyLine, fc.boolean()).map(([line, outside]) => bash(line, outside)),
  fc.tuple(anyPath, fc.constantFrom('read', 'grep', 'ls')).map(([path, name]) => reading(path, name)),
  fc
    .tuple(anyPath, fc.boolean(), fc.boolean(), fc.boolean())
    .map(([path, isInWritableRoot, isProtected, hasOtherNames]) =>
      writing(path, { isInWritableRoot, isProtected, hasOtherNames }),
    ),
  fc.constantFrom('example.com', 'a.example.com').map((host) => connecting(host)),
  fc
    .tuple(fc.constantFrom('files__read', 'bash', 'todo', 'edit'), anySource)
    .map(([name, source]) => calling(name, source)),
);
const anyRule = fc.constantFrom(
  ...['bash', 'edit', 'read', '*', 'files__*', 'network', 'todo', 'write', 'bash:outside', 'network(*.example.com)'],
  ...['bash(a)', 'bash(a *)', 'bash(npm test)', 'bash(sudo *)', 'bash(*)', 'bash(b a)', 'bash:outside(a)'],
  ...['edit(src/**)', 'read(**)', 'edit(.git/**)', 'read(/etc/*)', 'edit(a)', 'network(example.com:443)'],
);
const anyRules = fc.array(anyRule, { maxLength: 3 });
const anyTestRules: fc.Arbitrary<TestRules> = fc.record({
  allow: anyRules,
  ask: anyRules,
  deny: anyRules,
  saved: anyRules,
});
const anyMode = fc.constantFrom(...modes);
const anyPlace = fc.record({ isConfined: fc.boolean(), isExternal: fc.boolean() });
const anyGrants = fc.array(anyCall, { maxLength: 3 }).map((calls) => {
  const grants = new Grants(CWD);
  for (const call of calls) grants.add(call);
  return grants;
});
const anyPolicy = fc
  .tuple(anyTestRules, anyMode, anyPlace, anyGrants)
  .map(([rules, mode, place, grants]) => ({ rules, policy: policyWith(rules, { mode, grants, ...place }) }));

const strictness = { deny: 0, ask: 1, allow: 2 } as const;
const looseness = (facts: CallFacts, policy: Policy) => strictness[decide(facts, policy).kind];
const options = { numRuns: process.env['SOAK'] ? 100_000 : 1500 };

describe('for all calls and policies', () => {
  it('a rule that denies wins over everything else', () => {
    fc.assert(
      fc.property(anyCall, anyPolicy, ({ ...facts }, { rules, policy }) => {
        const bare = decide(facts, policyWith({ deny: rules.deny ?? [] }, { mode: 'full' }));
        if (bare.kind === 'deny') expect(decide(facts, policy).kind).toBe('deny');
      }),
      options,
    );
  });

  it('one more rule that allows turns no denial into anything else', () => {
    fc.assert(
      fc.property(anyCall, anyPolicy, anyRule, (facts, { rules, policy }, rule) => {
        const more = policyWith({ ...rules, allow: [...(rules.allow ?? []), rule] }).rules;
        const before = decide(facts, policy);
        const after = decide(facts, { ...policy, rules: more });
        expect(strictness[after.kind]).toBeGreaterThanOrEqual(strictness[before.kind]);
        if (before.kind === 'deny') expect(after).toEqual(before);
      }),
      options,
    );
  });

  it('one more rule that denies or asks never loosens', () => {
    fc.assert(
      fc.property(
        anyCall,
        anyPolicy,
        anyRule,
        fc.constantFrom('ask' as const, 'deny' as const),
        (facts, given, rule, list) => {
          const { rules, policy } = given;
          const more = policyWith({ ...rules, [list]: [...(rules[list] ?? []), rule] }).rules;
          expect(looseness(facts, { ...policy, rules: more })).toBeLessThanOrEqual(looseness(facts, policy));
        },
      ),
      options,
    );
  });

  it('a stricter mode never allows what a looser one denies, and from ask on never what a looser one asks about', () => {
    fc.assert(
      fc.property(anyCall, anyPolicy, anyMode, anyMode, (facts, { policy }, one, other) => {
        const [stricter, looser] = modes.indexOf(one) < modes.indexOf(other) ? [one, other] : [other, one];
        const inStricter = decide(facts, { ...policy, mode: stricter });
        const inLooser = decide(facts, { ...policy, mode: looser });
        if (inLooser.kind === 'deny') expect(inStricter.kind).toBe('deny');
        if (inLooser.kind === 'ask' && stricter !== 'plan') expect(inStricter.kind).not.toBe('allow');
      }),
      options,
    );
  });

  it('a wildcard never crosses an operator', () => {
    const word = fc.stringMatching(/^[a-z]{1,3}$/);
    const operator = fc.constantFrom('&&', '||', ';', '|');
    fc.assert(
      fc.property(word, fc.array(word), word, operator, (program, words, other, sign) => {
        fc.pre(program !== other);
        const policy = policyWith({}, { mode: 'ask' });
        const { rules } = policyWith({ deny: [] });
        const allow = [{ type: 'command' as const, text: '', words: [program], anyMore: true, outside: false }];
        const decision = decide(bash([program, ...words, sign, other].join(' ')), {
          ...policy,
          rules: { ...rules, allow },
        });
        expect(decision.kind).toBe('ask');
      }),
      options,
    );
  });

  it('a call that leaves the sandbox is asked about unless a rule or grant for outside exists', () => {
    fc.assert(
      fc.property(anyLine, anyPolicy, (line, { rules, policy }) => {
        fc.pre(policy.mode !== 'full');
        const isInside = (rule: string) => !rule.startsWith('bash:outside');
        const inside = policyWith({
          allow: rules.allow?.filter(isInside) ?? [],
          saved: rules.saved?.filter(isInside) ?? [],
        });
        expect(decide(bash(line, true), { ...policy, ...inside, mode: policy.mode }).kind).not.toBe('allow');
      }),
      options,
    );
  });
});
