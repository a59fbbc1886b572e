import { dirname } from 'node:path';
import { makeFolder } from '../../system/make-folder.ts';
import { realPath } from '../../system/real-path.ts';
import { replaceFile } from '../../system/replace-file.ts';
import { throwIfAborted } from '../unless-aborted.ts';
import { checkRegular } from './regular-file.ts';

/** Gives a file its content, and makes the folders that it needs. */
export async function writeWholeFile(target: string, content: string, signal: AbortSignal): Promise<void> {
  throwIfAborted(signal);
  await checkRegular(target);
  makeFolder(dirname(realPath(target)));
  await replaceFile(target, content);
}
