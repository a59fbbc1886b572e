import type { ImageContent } from '../../../protocol/generated/vocabulary.ts';
import { oneLine } from '../../words.ts';
import type { TextAttachment } from '../state/writing/attachment.ts';
import type { Written } from '../state/writing/writing.ts';

/** A message as it is sent: files of text stand below the words, under their names. */
export function writtenOut({ text, attachments }: Written): { text: string; images: ImageContent[] } {
  const files = attachments.flatMap((one) => (one.kind === 'text' ? [quoted(one)] : []));
  const images = attachments.flatMap((one) => {
    if (one.kind === 'text') return [];
    return [{ type: 'image' as const, data: one.data, mimeType: one.mimeType }];
  });
  return { text: [text.trimEnd(), ...files].filter((part) => part !== '').join('\n\n'), images };
}

/** Longer than any fence in the text: nothing in it ends the block. */
function quoted({ name, text }: TextAttachment): string {
  const longest = [...text.matchAll(/`+/g)].reduce((most, [run]) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${oneLine(name, 200)}\n${fence}\n${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${fence}`;
}
