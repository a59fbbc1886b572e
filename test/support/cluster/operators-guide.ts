import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The page for operators of a cluster. */
export const operatorsGuide = readFileSync(join(import.meta.dirname, '../../../docs/cluster.md'), 'utf8');

/** The shell commands under a heading of the guide, block by block. */
export function shellBlocksUnder(heading: string): string[] {
  const section = operatorsGuide.split(/^(?=##? )/m).find((part) => part.startsWith(`## ${heading}\n`));
  if (section === undefined) throw new Error(`docs/cluster.md has no section ${heading}`);
  return [...section.matchAll(/^( *)```sh\n([\s\S]*?)^\1```/gm)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
}
