import { join } from 'node:path';
import { expect, it } from 'vitest';
import { skill, userWith } from './testing/user-with.ts';

it.each([
  ['no description', '---\nname: odd\n---\n', 'is left out: it has no description'],
  ['no front matter', 'Do it.', 'is left out: it has no description'],
  ['a description that is none', '---\ndescription: [a]\n---\n', 'is left out: it has no description'],
  ['a blank description', '---\ndescription: "  "\n---\n', 'is left out: it has no description'],
  ['bad YAML', '---\ndescription: a: b\n---\n', 'is left out: its front matter is no YAML: '],
])('a skill with %s is left out with a warning, and the others load', async (_title, text, warning) => {
  const { load } = userWith({
    'home/.pi/agent/skills/odd/SKILL.md': text,
    'home/.pi/agent/skills/ok/SKILL.md': skill('ok'),
  });

  const { found, warnings } = await load();

  expect(found.map(([name]) => name)).toEqual(['skill:ok']);
  expect(warnings).toEqual([expect.stringContaining(`home/.pi/agent/skills/odd/SKILL.md ${warning}`)]);
});

it('.md files without front matter beside skills are skipped without a warning', async () => {
  const { load } = userWith({
    'home/.pi/agent/skills/README.md': '# My skills\n',
    'home/.pi/agent/skills/loose.md': '---\ndescription: Loose.\n---\nDo it.',
    'home/.pi/agent/skills/odd.md': '---\nname: odd\n---\n',
  });

  const { found, warnings } = await load();

  expect(found).toEqual([['skill:loose', 'home/.pi/agent/skills/loose.md']]);
  expect(warnings).toEqual(['home/.pi/agent/skills/odd.md is left out: it has no description']);
});

it.each([
  ['another name than its folder', 'other', 'its name, other, is not that of its folder'],
  ['a long name', 'x'.repeat(65), 'its name has more than 64 characters'],
  ['capitals', 'Odd', 'its name, Odd, has more in it than a-z, 0-9 and hyphens'],
  ['a hyphen in front', '-odd', 'its name, -odd, has a hyphen at an end or two in a row'],
  ['a hyphen at the end', 'odd-', 'its name, odd-, has a hyphen at an end or two in a row'],
  ['two hyphens', 'o--dd', 'its name, o--dd, has a hyphen at an end or two in a row'],
])('a skill with %s loads with a warning', async (_title, name, warning) => {
  const { load } = userWith({ 'home/.pi/agent/skills/odd/SKILL.md': skill(`"${name}"`) });

  const { found, warnings } = await load();

  expect(found.map(([command]) => command)).toEqual([`skill:${name}`]);
  expect(warnings).toContain(`home/.pi/agent/skills/odd/SKILL.md: ${warning}`);
});

it('a skill with a long description loads with a warning', async () => {
  const text = `---\ndescription: ${'x'.repeat(1025)}\n---\n`;
  const { load } = userWith({ 'home/.pi/agent/skills/odd/SKILL.md': text });

  const { found, warnings } = await load();

  expect(found.map(([name]) => name)).toEqual(['skill:odd']);
  expect(warnings).toEqual(['home/.pi/agent/skills/odd/SKILL.md: its description has more than 1024 characters']);
});

it('the model gets all skills but those with disable-model-invocation', async () => {
  const { load } = userWith({
    'home/.pi/agent/skills/a/SKILL.md': skill('a'),
    'home/.pi/agent/skills/b/SKILL.md': '---\ndescription: B.\ndisable-model-invocation: true\n---\n',
    'home/.pi/agent/skills/c/SKILL.md': '---\ndescription: C.\ndisable-model-invocation: "no"\n---\n',
  });

  const { resources, found } = await load();

  expect(resources.listings.map(({ name }) => name)).toEqual(['a', 'c']);
  expect(found.map(([name]) => name)).toEqual(['skill:a', 'skill:b', 'skill:c']);
});

it('an invoked skill becomes its body with its location and the arguments', async () => {
  const { root, load } = userWith({ 'home/.pi/agent/skills/a/SKILL.md': skill('a', '\n# How\n\nRead refs.md\n\n') });
  const { say: expand } = await load();
  const folder = join(root, 'home/.pi/agent/skills/a');
  const block = [
    `<skill name="a" location="${folder}/SKILL.md">`,
    `Relative paths in this skill are relative to its folder, ${folder}`,
    '',
    '# How\n\nRead refs.md',
    '</skill>',
  ].join('\n');

  expect(await expand('/skill:a')).toBe(block);
  expect(await expand('/skill:a  do   it\n\nnow ')).toBe(`${block}\n\ndo   it\n\nnow`);
});
