import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type Home, TAU } from './open.ts';

/** A PATH on which `pi` starts the built program, as after an installation. */
export function pathWithPi({ root }: Home): Record<string, string> {
  const bin = join(root, 'bin');
  mkdirSync(bin);
  symlinkSync(TAU, join(bin, 'pi'));
  return { PATH: `${bin}:${process.env['PATH']}` };
}
