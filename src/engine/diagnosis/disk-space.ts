import { stat, statfs } from 'node:fs/promises';
import type { Finding } from '../../protocol/generated/vocabulary.ts';
import { fine, warning } from './finding.ts';
import { nearestExisting } from './folders.ts';
import { sizeText } from './size-text.ts';

// With less free space a long output or session may not fit.
const LOW_BYTES = 256 * 1024 * 1024;

/** Reports the free space of existing or future folders, once per device. */
export async function diskSpaceFinding(folders: readonly string[], low = LOW_BYTES): Promise<Finding> {
  const rooms = new Map<number, { folder: string; bytes: number }>();
  for (const requested of folders) {
    const folder = await nearestExisting(requested);
    const { dev } = await stat(folder);
    const { bavail, bsize } = await statfs(folder);
    if (!rooms.has(dev)) rooms.set(dev, { folder, bytes: bavail * bsize });
  }
  const short = [...rooms.values()].filter(({ bytes }) => bytes < low);
  if (short.length === 0) return fine('disk space', roomText([...rooms.values()]));
  return warning('disk space', `${roomText(short)}: make room, or a run may end because it cannot be stored`);
}

const roomText = (rooms: readonly { folder: string; bytes: number }[]) =>
  rooms.map(({ folder, bytes }) => `${sizeText(bytes)} free in ${folder}`).join(', ');
