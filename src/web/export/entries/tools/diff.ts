import { plainText } from '../../../code/plain-text.ts';
import { element } from '../../../element.ts';
import { type Fields, fieldsOf, listOf, textOf } from '../../../fields.ts';

/** What an edit changed, as lines that begin with `+`, `-` or a space; empty when nobody knows. */
export function diffOf(call: Fields, details: unknown): string {
  const { diff, patch } = fieldsOf(details);
  if (textOf(diff) !== '') return textOf(diff);
  if (textOf(patch) !== '') return textOf(patch).replace(/^(?:(?:---|\+\+\+|diff|index|===)[^\n]*\n)+/, '');
  const edits = listOf(call['edits']);
  return (edits.length > 0 ? edits : [call])
    .map(({ oldText, newText }) =>
      [signed('-', textOf(oldText)), signed('+', textOf(newText))].filter(Boolean).join('\n'),
    )
    .filter(Boolean)
    .join('\n\n');
}

const signed = (sign: string, text: string) => (text === '' ? '' : text.replaceAll(/^/gm, sign));

/** The lines of a diff, each in the colour of what happened to it. */
export function showDiff(diff: string): Node[] {
  return diff.split('\n').map((line) => {
    const kind = line.startsWith('+')
      ? 'added'
      : line.startsWith('-')
        ? 'removed'
        : line.startsWith('@@')
          ? 'place'
          : '';
    return element('span', { class: `diff-line ${kind}` }, ...plainText(`${line}\n`));
  });
}

/** How many lines came and went. */
export function diffSize(diff: string): string {
  const count = (sign: string) => diff.split('\n').filter((line) => line.startsWith(sign)).length;
  return `+${count('+')} −${count('-')}`;
}
