import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { PERMISSION_BITS, swapFile } from './atomic-write.ts';
import { realPath } from './real-path.ts';

// These errors mean that no file can replace the target: folder permissions, another owner, a mount.
const CANNOT_SWAP = new Set(['EACCES', 'EPERM', 'EROFS', 'EBUSY', 'EXDEV']);

/**
 * Replaces the content of a file and keeps its mode, owner and links. Other attributes, such as access lists, may be lost.
 *
 * A new file replaces the old one atomically, so that a crash or a full disk leaves the old text or the new. Where
 * that would break a hard link, change the owner or is impossible, the file is overwritten: a full disk then still
 * leaves the old text, a crash may not.
 *
 * Follows symlinks as `resolve` does, and no link that appears afterwards in place of the file.
 */
export async function replaceFile(path: string, text: string, resolve = realPath): Promise<void> {
  const target = resolve(path);
  const old = await statIfExists(target);
  if (!old) return swapText(target, text);
  // A read-only file is not replaced, even where its folder would allow it.
  const file = await open(target, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    if (old.nlink === 1 && (await trySwap(target, text, old))) return;
    await overwrite(file, Buffer.from(text));
  } finally {
    await file.close();
  }
}

interface Ownership {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

async function statIfExists(path: string) {
  try {
    return await lstat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function trySwap(path: string, text: string, old: Ownership): Promise<boolean> {
  try {
    await swapText(path, text, old);
    return true;
  } catch (error) {
    if (CANNOT_SWAP.has((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

const swapText = (path: string, text: string, old?: Ownership): Promise<void> =>
  swapFile(path, old ? 0o600 : 0o666, async (file) => {
    if (old) await copyOwnership(file, old);
    await file.writeFile(text);
  });

/** The mode is set last: a change of the owner clears bits of it. */
async function copyOwnership(file: FileHandle, old: Ownership): Promise<void> {
  const { uid, gid } = await file.stat();
  if (uid !== old.uid || gid !== old.gid) await file.chown(old.uid, old.gid);
  await file.chmod(old.mode & PERMISSION_BITS);
}

/** Writes the growth first: when the disk is full, nothing is lost yet. */
async function overwrite(file: FileHandle, bytes: Buffer): Promise<void> {
  const { size } = await file.stat();
  try {
    await writeAt(file, bytes.subarray(size), size);
  } catch (error) {
    await file.truncate(size);
    throw error;
  }
  await writeAt(file, bytes.subarray(0, size), 0);
  await file.truncate(bytes.length);
  await file.sync();
}

async function writeAt(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    written += (await file.write(bytes, written, bytes.length - written, position + written)).bytesWritten;
  }
}
