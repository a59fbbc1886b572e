import { plainText } from '../../code/plain-text.ts';
import { element } from '../../element.ts';
import { type Fields, fieldsOf, listOf, numberOf, textOf } from '../../fields.ts';
import { renderMarkdown } from '../../markdown/render.ts';
import { counted, dollars, duration, oneLine, tokens } from '../../words.ts';
import { usageOf } from '../session/totals.ts';
import type { Surroundings } from './entry-view.ts';
import { toolCard } from './tools/card.ts';

/** An answer of the model: what it thought, said and had done, in that order, and what it cost. */
export function answer(message: Fields, around: Surroundings): HTMLElement {
  const blocks = listOf(message['content']).map((block) => showBlock(block, around));
  return element('div', { class: 'answer' }, ...blocks, ending(message), account(message));
}

function showBlock(block: Fields, around: Surroundings): HTMLElement | undefined {
  switch (block['type']) {
    case 'text':
      return textOf(block['text']).trim() === '' ? undefined : renderMarkdown(textOf(block['text']));
    case 'thinking':
      return thinking(block);
    case 'toolCall':
      return toolCall(block, around);
    default:
      return element(
        'p',
        { class: 'note' },
        ...plainText(`A part of an unknown type: ${textOf(block['type']).slice(0, 60)}`),
      );
  }
}

function thinking(block: Fields): HTMLElement | undefined {
  const text = textOf(block['thinking']);
  if (text.trim() === '')
    return block['redacted'] === true ? element('p', { class: 'note' }, 'Thought, redacted') : undefined;
  const words = counted(text.trim().split(/\s+/).length, 'word');
  const head = element(
    'summary',
    {},
    'Thinking',
    element('span', { class: 'note' }, ` ${words} · ${oneLine(text, 90)}`),
  );
  return element('details', { class: 'thinking' }, head, renderMarkdown(text));
}

function toolCall(block: Fields, around: Surroundings): HTMLElement {
  const id = textOf(block['id']);
  const result = around.resultOf(id);
  const card = toolCard({
    name: textOf(block['name']),
    call: fieldsOf(block['arguments']),
    result: result?.message,
    progress: around.progressOf?.(id),
  });
  if (result) around.placed(result, card);
  return card;
}

function ending(message: Fields): HTMLElement | undefined {
  const why = textOf(message['errorMessage']);
  switch (message['stopReason']) {
    case 'error':
      return element('p', { class: 'failure', attributes: { role: 'note' } }, ...plainText(why || 'The model failed'));
    case 'aborted':
      return element('p', { class: 'note' }, 'Stopped');
    case 'length':
      return element('p', { class: 'note' }, 'Cut off: the answer reached its longest length');
    default:
      return undefined;
  }
}

function account(message: Fields): HTMLElement {
  const { input, output, cached, cost } = usageOf(message['usage']);
  const time = numberOf(message['durationMs']);
  const parts = [
    textOf(message['model']).slice(0, 80),
    input + output + cached > 0 && `${tokens(input + cached)} in`,
    cached > 0 && `${tokens(cached)} of it cached`,
    output > 0 && `${tokens(output)} out`,
    cost > 0 && dollars(cost),
    time > 0 && duration(time),
  ];
  return element('footer', { class: 'account' }, ...plainText(parts.filter(Boolean).join(' · ')));
}
