import type { ImageContent } from '../../../protocol/generated/vocabulary.ts';
import { oneLine } from '../../words.ts';
import type { TextAttachment } from '../state/draft/attachment.ts';
import type { DraftContent } from '../state/draft/message-draft.ts';

/** Builds the prompt: text files follow the message text, each under its name. */
export function promptContent({ text, attachments }: DraftContent): { text: string; images: ImageContent[] } {
  const files = attachments.flatMap((one) => (one.kind === 'text' ? [fencedFile(one)] : []));
  const images = attachments.flatMap((one) => {
    if (one.kind === 'text') return [];
    return [{ type: 'image' as const, data: one.data, mimeType: one.mimeType }];
  });
  return { text: [text.trimEnd(), ...files].filter((part) => part !== '').join('\n\n'), images };
}

// The fence is longer than any run of backticks in the text.
function fencedFile({ name, text }: TextAttachment): string {
  const longest = [...text.matchAll(/`+/g)].reduce((most, [run]) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${oneLine(name, 200)}\n${fence}\n${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${fence}`;
}
