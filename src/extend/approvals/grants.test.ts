import { expect, it } from 'vitest';
import { Grants } from './grants.ts';
import { bash, CWD, calling, connecting, reading, writing } from './testing/policy.ts';

function granted(...calls: Parameters<Grants['add']>[0][]) {
  const grants = new Grants(CWD);
  for (const call of calls) grants.add(call);
  return grants;
}

it('nothing is granted at first', () => {
  for (const facts of [bash('a'), bash('a > b'), reading('/a'), writing('/a'), connecting('a'), calling('a')])
    expect(granted().covers(facts)).toBe(false);
});

it('a grant for a command counts for the same words, with any spaces and quotes between', () => {
  const grants = granted(bash('npm test'));

  for (const line of ['npm test', ' npm   test ', "npm 'test'", 'npm test; npm test', `cd ${CWD} && npm test`])
    expect([line, grants.covers(bash(line))]).toEqual([line, true]);
  for (const line of ['npm test -- -u', 'npm', 'npm test && a', 'npm test > a', './npm test', 'npm Test'])
    expect([line, grants.covers(bash(line))]).toEqual([line, false]);
});

it('a grant for a line counts for each of its commands', () => {
  const grants = granted(bash('a && b c | d'));

  expect(grants.covers(bash('d; b c'))).toBe(true);
  expect(grants.covers(bash('b'))).toBe(false);
});

it('a grant for a line that is not plain counts for exactly this line', () => {
  const grants = granted(bash('npm test > log'));

  expect(grants.covers(bash('npm test > log'))).toBe(true);
  expect(grants.covers(bash('npm test  > log'))).toBe(false);
  expect(grants.covers(bash('npm test'))).toBe(false);
});

it('a grant for inside is none for outside', () => {
  expect(granted(bash('a')).covers(bash('a', true))).toBe(false);
  expect(granted(bash('a > b')).covers(bash('a > b', true))).toBe(false);
  expect(granted(bash('a', true)).covers(bash('a'))).toBe(true);
  expect(granted(bash('a', true)).covers(bash('a', true))).toBe(true);
});

it('a grant for a tool counts for this tool of this source', () => {
  const grants = granted(calling('files__read'), { ...bash('a'), source: 'extension' });

  expect(grants.covers(calling('files__read'))).toBe(true);
  expect(grants.covers(calling('files__read', 'extension'))).toBe(false);
  expect(grants.covers(calling('files__write'))).toBe(false);
  expect(grants.covers({ ...bash('b'), source: 'extension' })).toBe(true);
  expect(grants.covers(bash('a'))).toBe(false);
});

it('a grant for a host counts for all its ports', () => {
  const grants = granted(connecting('Example.com', 443));

  expect(grants.covers(connecting('example.com', 80))).toBe(true);
  expect(grants.covers(connecting('www.example.com', 443))).toBe(false);
});

it('a grant for a file counts for edit and write, until the file can do more harm', () => {
  const grants = granted(writing('/a/b'));

  expect(grants.covers(writing('/a/b', {}, 'edit'))).toBe(true);
  expect(grants.covers(writing('/a/c'))).toBe(false);
  expect(grants.covers(reading('/a/b'))).toBe(false);
  expect(grants.covers(writing('/a/b', { hasOtherNames: true }))).toBe(false);
  expect(grants.covers(writing('/a/b', { isInWritableRoot: false }))).toBe(false);
});

it('grants are named by rules, and can be withdrawn', () => {
  const grants = granted(
    bash("a 'b c' && d"),
    bash('x > y'),
    bash('p', true),
    calling('t'),
    connecting('h'),
    writing('/a*'),
  );

  expect(grants.rules).toEqual([
    "bash(a 'b c')",
    'bash(d)',
    'bash(x > y)',
    'bash:outside(p)',
    't',
    'network(h)',
    'edit(/a\\*)',
  ]);
  expect(grants.remove('bash(d)')).toBe(true);
  expect(grants.remove('bash(d)')).toBe(false);
  expect(grants.covers(bash('d'))).toBe(false);
  expect(grants.covers(bash("a 'b c'"))).toBe(true);
});

it('beyond the limit the oldest grant goes', () => {
  const grants = granted(...Array.from({ length: 1001 }, (_, index) => bash(`a ${index}`)));

  expect(grants.rules).toHaveLength(1000);
  expect(grants.covers(bash('a 0'))).toBe(false);
  expect(grants.covers(bash('a 1000'))).toBe(true);
});
