import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Argv, commandWords, literalWords, plainCommands } from './plain-commands.ts';

it.each<[string, Argv[]]>([
  ['npm test', [['npm', 'test']]],
  ['  npm   run  lint ', [['npm', 'run', 'lint']]],
  ['git diff HEAD~1'.replace('~', '^').replace('^', '@'), [['git', 'diff', 'HEAD@1']]],
  [`a 'b c' "d 'e'" f'g'"h" '' ""`, [['a', 'b c', "d 'e'", 'fgh', '', '']]],
  ["grep 'a\\.b|$(c)' x", [['grep', 'a\\.b|$(c)', 'x']]],
  ['a && b||c;d|e', [['a'], ['b'], ['c'], ['d'], ['e']]],
  ['env X=1 a=b', [['env', 'X=1', 'a=b']]],
  ['./x/y.sh -a --b=c', [['./x/y.sh', '-a', '--b=c']]],
  ['printf %s x', [['printf', '%s', 'x']]],
  ['kill %1', [['kill', '%1']]],
  ['echo if then done', [['echo', 'if', 'then', 'done']]],
])('%j is plain', (line, commands) => {
  expect(plainCommands(line)).toEqual(commands);
});

it.each([
  ['nothing', ['', '  ', ';', '&&', '""', "'' a"]],
  ['an empty command', ['a &&', 'a;', '| a', 'a ;; b', 'a || | b', 'a && && b', 'a |& b']],
  ['a background job', ['a &', 'a & b', 'a &&& b']],
  ['more than one line', ['a\nb', 'a\r', 'a\n', 'a \\\n b', "a 'b\nc'"]],
  [
    'signs that cannot be seen, or look like others',
    ['a\tb', 'a\u00a0b', 'a\u200bb', 'a\u202eb', 'аpt x', 'a\u0000', 'a\u007f'],
  ],
  ['an open quote', ["a 'b", 'a "b', `a "b'`]],
  [
    'an expansion',
    ['a $b', 'a "$b"', 'a `b`', 'a "`b`"', 'a $(b)', 'a *', 'a ?', 'a [b]', 'a ~', 'a {b,c}', 'a x={1..2}'],
  ],
  ['an escape', ['a \\b', 'a "b\\"c"', '\\a']],
  ['history, a comment, a negation', ['a !b', '! a', 'a "!b"', 'a # b', '# a']],
  ['a redirection', ['a > b', 'a < b', 'a 2>&1', 'a <<< b', '>b']],
  ['a group', ['(a)', '{ a; }', 'a() b', '[[ a ]]', '[ a ]', '((1))']],
  ['an assignment', ['A=b', 'A=b c', 'A+=b c', 'a.b=c d', 'a; PATH=x b']],
  ['a quoted command', ['"a" b', "'a'", "a'b' c", 'n""pm test']],
  ['a reserved word', ['if a', 'time a', 'a; then b', 'coproc a', 'function a', 'a && do b']],
  ['a job, an option', ['%1', '%% a', '-a', '- a']],
  ['a path that zsh looks up', ['a =b', '=a']],
  [
    'a builtin that changes the shell',
    ['cd a && b', 'eval a', '. a', 'source a', 'exec a', 'export A=b', ': a', 'alias a=b'],
  ],
  [
    'a builtin that evaluates its words',
    ["test -v 'a[$(b)]'", "unset 'a[$(b)]'", 'printf -v PATH a', `printf "-v" PATH a`],
  ],
])('a line with %s is not plain', (_, lines) => {
  for (const line of lines) expect([line, plainCommands(line)]).toEqual([line, undefined]);
});

it('a line that is too long is not plain', () => {
  expect(plainCommands(`a ${'b'.repeat(3998)}`)).toHaveLength(1);
  expect(plainCommands(`a ${'b'.repeat(3999)}`)).toBeUndefined();
});

it('cd into the own folder is left out, and no other', () => {
  expect(plainCommands('cd /srv/app && npm test', '/srv/app')).toEqual([['npm', 'test']]);
  expect(plainCommands("cd . ; cd '/srv/app' && npm test", '/srv/app')).toEqual([['npm', 'test']]);
  for (const line of ['cd /srv && a', 'cd && a', 'cd -P . && a', 'cd ./ && a', 'cd .', '"cd" . && a', 'cd . b && a'])
    expect([line, plainCommands(line, '/srv/app')]).toEqual([line, undefined]);
});

it('the words of one command may begin with any name', () => {
  expect(commandWords("eval 'a b'")).toEqual(['eval', 'a b']);
  expect(commandWords('a; b')).toBeUndefined();
  expect(commandWords('a $b')).toBeUndefined();
});

it.each([
  ['x=$(sudo ls)', ['sudo', 'ls']],
  ['su""do ls > x', ['sudo', 'ls']],
  ['\\sudo ls; (a)', ['sudo', 'ls']],
  ['bash -c "sudo ls; $x"', ['sudo', 'ls']],
  ['su\\\ndo ls', ['sudo', 'ls']],
  ['{sudo,ls}', ['sudo', 'ls']],
  ['a=sudo; $a', ['sudo']],
  ['a --x=b,c > d', ['--x=b,c']],
])('the literal words of %j hold %j', (line, words) => {
  expect(` ${literalWords(line).join(' ')} `).toContain(` ${words.join(' ')} `);
});

it('a plain line gives its literal words', () => {
  const word = fc.stringMatching(/^[a-z]+$/);
  fc.assert(
    fc.property(fc.array(word, { minLength: 1 }), (words) => {
      expect(literalWords(words.join(' ')).slice(0, words.length)).toEqual(words);
    }),
  );
});
