import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { Refusal } from '../../../protocol/errors.ts';
import { writePiecesAtomic } from '../../../system/files/atomic-write.ts';
import { SessionSource } from './session-source.ts';

interface ExportOptions {
  readonly sessionPath: string;
  // Base of a relative `outputPath`.
  readonly cwd: string;
  readonly outputPath?: string | undefined;
  // The leaf, if it is not the last entry.
  readonly leafId?: string | null | undefined;
}

// Only the user may read the session, and the page.
const MODE = 0o600;

const writeRefusals: Readonly<Record<string, (path: string) => Refusal>> = {
  ENOENT: (path) => new Refusal('not_found', `Cannot write ${path}: its folder does not exist`),
  ENOTDIR: (path) => new Refusal('not_found', `Cannot write ${path}: its folder does not exist`),
  ENAMETOOLONG: (path) => new Refusal('invalid_params', `Cannot write ${path}: the name is too long`),
  EACCES: (path) => new Refusal('permission_denied', `Cannot write ${path}: permission denied`),
  EPERM: (path) => new Refusal('permission_denied', `Cannot write ${path}: permission denied`),
  EROFS: (path) => new Refusal('permission_denied', `Cannot write ${path}: the file system is read-only`),
};

/**
 * Writes a session as one HTML page and returns its path as the caller named it.
 *
 * The page holds all branches of the session at the time of the call.
 */
export async function exportSession({ sessionPath, cwd, outputPath, leafId }: ExportOptions): Promise<string> {
  const path = outputPath ?? `pi-session-${basename(sessionPath, '.jsonl')}.html`;
  const target = resolve(cwd, path);
  const source = new SessionSource(sessionPath);
  try {
    if (!source.hasMessages) throw new Refusal('not_found', 'Nothing to export yet - start a conversation first');
    await writePage(target, path, pieces(source, leafId));
  } finally {
    source.close();
  }
  return path;
}

/** Writes a page; an existing file is replaced only if it is a web page. Refusals call the file `name`. */
export async function writePage(
  target: string,
  name: string,
  content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<void> {
  try {
    const existing = statSync(target, { throwIfNoEntry: false });
    if (existing && !existing.isFile()) throw new Refusal('invalid_params', `Cannot write ${name}: it is no file`);
    if (existing && existing.size > 0 && !isHtml(target)) {
      throw new Refusal('permission_denied', `Cannot write ${name}: there is a file that is no web page`);
    }
    await writePiecesAtomic(target, content, { newMode: MODE });
  } catch (error) {
    throw writeRefusals[(error as NodeJS.ErrnoException).code ?? '']?.(name) ?? error;
  }
}

/** Only an earlier export or another HTML page is overwritten. */
function isHtml(path: string): boolean {
  const fd = openSync(path, 'r');
  try {
    const head = Buffer.alloc(256);
    return /^\uFEFF?\s*<(!doctype html|html)/i.test(head.subarray(0, readSync(fd, head)).toString());
  } finally {
    closeSync(fd);
  }
}

function* pieces(source: SessionSource, leafId: string | null | undefined): Generator<Uint8Array> {
  const { before, after } = readTemplate();
  yield Buffer.from(before);
  yield escapeForScript(Buffer.from(`${JSON.stringify(leafId === undefined ? {} : { leafId })}\n`));
  for (const block of source.blocks()) yield escapeForScript(block);
  yield Buffer.from(after);
}

/**
 * Escapes `<`, which in JSON only occurs inside strings, so that nothing ends the surrounding element. A carriage
 * return only occurs outside strings; HTML parsers would turn it into a line feed.
 */
function escapeForScript(block: Buffer): Buffer {
  if (!block.includes('<') && !block.includes('\r')) return block;
  return Buffer.from(block.toString('latin1').replaceAll('<', '\\u003c').replaceAll('\r', ' '), 'latin1');
}

// The page before and after the session.
interface PageTemplate {
  readonly before: string;
  readonly after: string;
}

// Beside the program, or in dist/ when running from source.
const templatePaths = ['../session-page.html', '../../../../dist/session-page.html'];

const SESSION_MARKER = '%SESSION%';

/** Reads the page that the build made of `src/web/export` and splits it where the session belongs. */
function readTemplate(): PageTemplate {
  const text = templatePaths.map(readIfExists).find((found) => found !== undefined);
  const [before, after] = text?.split(SESSION_MARKER) ?? [];
  if (before === undefined || after === undefined) throw new Error('The page for exports was not built');
  return { before, after };
}

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(join(import.meta.dirname, path), 'utf8');
  } catch {
    return undefined;
  }
}
