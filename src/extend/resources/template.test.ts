// biome-ignore-all lint/suspicious/noTemplateCurlyInString: prompt templates are full of them
import { expect, it } from 'vitest';
import { userWith } from './testing/user-with.ts';

it('an invoked template becomes its text with the arguments filled in', async () => {
  const { load } = userWith({
    'home/.pi/agent/prompts/fix.md': '---\ndescription: Fix it\n---\n\nFix $1, then ${@:2}. ${4:-Be quick.}\n',
    'home/.pi/agent/prompts/two words.md': 'Both: $@',
    'home/.pi/agent/prompts/two.md': 'Two: $@',
  });
  const { say: expand } = await load();

  expect(await expand('/fix a.ts "b c" d')).toBe('Fix a.ts, then b c d. Be quick.');
  expect(await expand('/fix\na.ts')).toBe('Fix a.ts, then . Be quick.');
  expect(await expand('/two words and more')).toBe('Both: and more');
  expect(await expand('/two wordsmiths')).toBe('Two: wordsmiths');
});

it('an empty template is left out, and an empty expansion leaves the message unchanged', async () => {
  const { load } = userWith({
    'home/.pi/agent/prompts/empty.md': '---\ndescription: Nothing\n---\n\n',
    'home/.pi/agent/prompts/echo.md': '$@',
  });
  const { say: expand, found, warnings } = await load();

  expect(found.map(([name]) => name)).toEqual(['echo']);
  expect(warnings).toEqual(['home/.pi/agent/prompts/empty.md is left out: it is empty']);
  expect(await expand('/echo hello')).toBe('hello');
  expect(await expand('/echo')).toBeUndefined();
});

it.each([
  ['its own', '---\ndescription: " Fix it "\n---\nWords', 'Fix it'],
  ['the first line', '\n\n  Fix the tests. \nAll of them.', 'Fix the tests.'],
  ['the beginning of a long first line', `${'é🎈'.repeat(40)}`, `${'é🎈'.repeat(30)}...`],
  ['a first line of 60 characters', 'x'.repeat(60), 'x'.repeat(60)],
  ['the first line, when its own is none', '---\ndescription: 5\n---\nWords', 'Words'],
])('the description of a template is %s', async (_title, text, description) => {
  const { resources } = await userWith({ 'home/.pi/agent/prompts/fix.md': text }).load();

  expect(resources.commands).toMatchObject([{ name: 'fix', description }]);
});

it.each([
  ['"[focus]"', '[focus]'],
  ['[focus]', '[focus]'],
  ['<file> [more]', '<file> [more]'],
  ['5', undefined],
])('the argument hint %s is listed as %s', async (hint, expected) => {
  const text = `---\nargument-hint: ${hint}\n---\nWords`;

  const { resources } = await userWith({ 'home/.pi/agent/prompts/fix.md': text }).load();

  expect(resources.commands[0]?.argumentHint).toBe(expected);
});

it('a template with malformed front matter loads with a warning', async () => {
  const { load } = userWith({ 'home/.pi/agent/prompts/fix.md': '---\nargument-hint: [a] [b]\n---\nFix $1' });
  const { say: expand, warnings } = await load();

  expect(await expand('/fix it')).toBe('Fix it');
  expect(warnings).toEqual([expect.stringMatching(/fix\.md: its front matter is no YAML: .+ at line 2, column \d+$/)]);
});
