import {
  accessSync,
  constants,
  lstatSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { readJsonObject } from '../../store/json-file.ts';
import { temporaryPathBeside } from '../../system/files/atomic-write.ts';
import { NAME_VARIABLE } from '../program-name.ts';

// The beginning of the second line of every launcher, by which it is recognized.
const MARK = '# Written by `tau shim`.';

// More bytes than a launcher has: a longer file is none.
const MAX_LAUNCHER_BYTES = 64 * 1024;

/** A script that starts this installation of tau under another name, also after Node was moved. */
export function launcherText(name: string, { node, program }: { node: string; program: string }): string {
  return `#!/bin/sh
${MARK} It starts tau under the name ${name}; \`tau shim ${name} --remove\` removes it.
node=${quoted(node)}
program=${quoted(program)}
[ -x "$node" ] || node=node
if [ ! -f "$program" ]; then
  echo "${name}: tau is no longer at $program: install it again and run tau shim ${name}, or remove $0" >&2
  exit 127
fi
${NAME_VARIABLE}=${name} exec "$node" "$program" "$@"
`;
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Whether a path is free, or belongs to a launcher of tau or to another program. */
export function fileKindAt(path: string): 'none' | 'launcher' | 'foreign' {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return 'none';
  if (!stats.isFile() || stats.size > MAX_LAUNCHER_BYTES) return 'foreign';
  return readFileSync(path, 'utf8').split('\n')[1]?.startsWith(MARK) ? 'launcher' : 'foreign';
}

/** Replaces the file or link at the path as a whole. */
export function writeLauncher(path: string, text: string): void {
  const temporary = temporaryPathBeside(path);
  try {
    writeFileSync(temporary, text, { flag: 'wx', mode: 0o755 });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Every executable file of this name in the folders, in their order. */
export const executablesNamed = (name: string, folders: readonly string[]): readonly string[] =>
  folders.map((folder) => join(folder, name)).filter(isExecutableFile);

function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The path of a program, with the package that it belongs to. */
export function describeProgram(path: string): string {
  const name = fileKindAt(path) === 'launcher' ? 'a launcher of tau' : packageOf(path);
  return name === undefined ? path : `${path} (${name})`;
}

/** Name and version of the npm package of a program; undefined if it belongs to none. */
function packageOf(program: string): string | undefined {
  try {
    for (let folder = dirname(realpathSync(program)); folder !== dirname(folder); folder = dirname(folder)) {
      const { name, version } = readJsonObject(join(folder, 'package.json')) ?? {};
      if (name !== undefined) return `${name} ${version}`;
    }
  } catch {
    // The link leads nowhere, or a manifest is malformed.
  }
  return undefined;
}
