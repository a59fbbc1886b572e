import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tempFolder } from '../../../store/testing/temp-folder.ts';
import { Resources } from '../resources.ts';
import type { ResourceOptions } from '../search-roots.ts';

/** A user with a home folder and a project in a repository; paths are relative to the folder above both. */
export function userWith(files: Record<string, string>) {
  const root = tempFolder();
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  };
  mkdirSync(join(root, 'repo/inner'), { recursive: true });
  mkdirSync(join(root, 'repo/.git'));
  for (const [name, text] of Object.entries(files)) write(name, text);
  const failures: unknown[] = [];
  const load = async (more: Partial<ResourceOptions> = {}) => {
    const options = {
      agentDir: join(root, 'home/.pi/agent'),
      home: join(root, 'home'),
      cwd: join(root, 'repo/inner'),
      trusted: false,
      skillPaths: [],
      promptPaths: [],
      findSkills: true,
      findTemplates: true,
      ...more,
    };
    const resources = await Resources.load(options, (...failure) => failures.push(failure));
    const expand = async (text: string) => {
      const expanded = await resources.hooks.expand?.({ text, images: [] }, new AbortController().signal);
      return expanded?.text;
    };
    const below = (text: string | undefined) => text?.replaceAll(`${root}/`, '');
    const found = resources.commands.map(({ name, path }) => [name, below(path)]);
    return { resources, say: expand, found, warnings: resources.warnings.map((warning) => below(warning)) };
  };
  return { root, write, load, failures };
}

/** The text of a SKILL.md with this name. */
export const skill = (name: string, body = 'Do it.') =>
  `---\nname: ${name}\ndescription: About ${name}.\n---\n${body}\n`;
