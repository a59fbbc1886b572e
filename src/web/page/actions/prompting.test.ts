import fc from 'fast-check';
import { expect, it } from 'vitest';
import { promptContent } from './prompting.ts';

const file = (text: string, name = 'a.md') => ({ kind: 'text', name, text, bytes: text.length }) as const;

it('text files follow the message text under their names, and images go beside it', () => {
  const image = { kind: 'image', name: 'i.png', mimeType: 'image/png', data: 'aGk=' } as const;

  const { text, images } = promptContent({
    text: 'See:\n',
    attachments: [file('one'), image, file('two\n', 'b\n.txt')],
  });

  expect(text).toBe('See:\n\na.md\n```\none\n```\n\nb .txt\n```\ntwo\n```');
  expect(images).toEqual([{ type: 'image', data: 'aGk=', mimeType: 'image/png' }]);
});

it('no text in an attached file ends its code fence', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('`', '``', '````', '\n', 'x', ' ')), (parts) => {
      const { text } = promptContent({ text: '', attachments: [file(parts.join(''))] });

      const [, fence = '', ...lines] = text.split('\n');
      expect(lines.pop()).toBe(fence);
      expect(lines.some((line) => line.trimStart().startsWith(fence))).toBe(false);
      expect(lines.join('\n').trimEnd()).toBe(parts.join('').trimEnd());
    }),
  );
});
