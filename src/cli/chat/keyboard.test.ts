import { PassThrough } from 'node:stream';
import type { ReadStream } from 'node:tty';
import { expect, it } from 'vitest';
import { Keyboard } from './keyboard.ts';

// The typed and the pasted text for input in these pieces.
async function typedAndPasted(...pieces: readonly string[]) {
  const input = new PassThrough();
  const pasted: string[] = [];
  const keyboard = new Keyboard(input as unknown as ReadStream, (text) => pasted.push(text));
  for (const piece of pieces) {
    input.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  input.end();
  let typed = '';
  for await (const bytes of keyboard) typed += bytes;
  return { typed, pasted };
}

const text = 'a\u001B[200~one\rtwo\u001B[201~b';

it.each(Array.from(text, (_, cut) => cut).filter((cut) => cut !== 2))(
  'a paste that arrives in two pieces is recognised, the first of %i bytes',
  async (cut) => {
    expect(await typedAndPasted(text.slice(0, cut), text.slice(cut))).toEqual({ typed: 'ab', pasted: ['one\rtwo'] });
  },
);

it('Escape and keys that start like a paste are typed keys', async () => {
  expect(await typedAndPasted('\u001B', 'x', '\u001B[2', '~', '\u001B[A')).toEqual({
    typed: '\u001Bx\u001B[2~\u001B[A',
    pasted: [],
  });
});
