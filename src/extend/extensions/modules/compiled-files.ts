import { createHash } from 'node:crypto';
import { accessSync, constants, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { version } from '../../../protocol/generated/version.ts';
import { writeFileAtomic } from '../../../system/files/atomic-write.ts';
import { makePrivateFolder } from '../../../system/files/make-folder.ts';
import { compile, type ModuleMode, type SourceFile } from './compile.ts';

/** The oldest files above this limit are removed. */
export const MAX_COMPILED_FILES = 500;

/** A cache of compiled code on disk. A changed source is compiled again. */
export class CompiledFiles {
  readonly #folder: string | undefined;

  private constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  /** Without a cache if other users can write to the folder, because its code is executed. */
  static in(folder: string): CompiledFiles {
    return new CompiledFiles(isPrivateFolder(folder) ? folder : undefined);
  }

  codeOf(source: SourceFile, mode: ModuleMode): string {
    if (this.#folder === undefined) return compile(source, mode);
    const file = join(this.#folder, `${hashOf(mode, source.path)}.js`);
    const header = `// ${hashOf(version, source.text)}\n`;
    const cached = readIfFile(file);
    if (cached?.startsWith(header)) return cached.slice(header.length);
    const code = compile(source, mode);
    store(file, header + code);
    return code;
  }
}

// Creates the folder if it is missing; false if it is not private to this user.
function isPrivateFolder(folder: string): boolean {
  try {
    if (!statSync(folder, { throwIfNoEntry: false })) {
      makePrivateFolder(dirname(folder));
      mkdirSync(folder, { mode: 0o700 });
    }
    accessSync(folder, constants.W_OK);
    const stats = statSync(folder);
    return stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o022) === 0;
  } catch {
    return false;
  }
}

function readIfFile(file: string): string | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false })?.isFile() ? readFileSync(file, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}

// A failed write, such as on a full disk, only costs time at the next start.
function store(file: string, code: string): void {
  try {
    writeFileAtomic(file, code, { mode: 0o600 });
    removeOldest(dirname(file));
  } catch {
    rmSync(file, { force: true });
  }
}

function removeOldest(folder: string): void {
  const names = readdirSync(folder);
  if (names.length <= MAX_COMPILED_FILES) return;
  const files = names.map((name) => join(folder, name)).map((path) => ({ path, age: statSync(path).mtimeMs }));
  const oldest = files.sort((a, b) => a.age - b.age).slice(0, names.length - MAX_COMPILED_FILES);
  for (const { path } of oldest) rmSync(path, { force: true });
}

const hashOf = (...parts: string[]): string => createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 32);
