import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type Home, TAU } from './open.ts';

/** A folder on the path in which a package manager would have put `pi`. */
export function withPi({ root }: Home): Record<string, string> {
  const bin = join(root, 'bin');
  mkdirSync(bin);
  symlinkSync(TAU, join(bin, 'pi'));
  return { PATH: `${bin}:${process.env['PATH']}` };
}
