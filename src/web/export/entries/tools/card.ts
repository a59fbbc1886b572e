import { codeBlock } from '../../../code/code-block.ts';
import { highlight, languageOf } from '../../../code/highlight.ts';
import { plainText } from '../../../code/plain-text.ts';
import { element } from '../../../element.ts';
import { type Fields, fieldsOf, numberOf, prettyJson, textOf, wordsOf } from '../../../fields.ts';
import { duration, lineCount, oneLine } from '../../../words.ts';
import { clipped } from '../clipped.ts';
import { picturesOf } from '../pictures.ts';
import { diffOf, diffSize, showDiff } from './diff.ts';
import { command, ended, output } from './terminal.ts';

/** A call of a tool, and what came of it. */
export interface ToolUse {
  readonly name: string;
  readonly call: Fields;
  /** Undefined when nothing came of it. */
  readonly result: Fields | undefined;
  /** How it stands while it is not over. */
  readonly progress?: string | undefined;
}

interface Card {
  /** What the call is about, in a line. */
  readonly about: string;
  /** A word on how it went, if all went well. */
  readonly outcome?: string | undefined;
  readonly body: readonly HTMLElement[];
}

const cards: Readonly<Record<string, (use: ToolUse) => Card>> = { bash, read, write, edit };

/** A card for a tool call: what was asked on top, what came of it below. */
export function toolCard(use: ToolUse): HTMLElement {
  const isKnown = Object.hasOwn(cards, use.name);
  const { about, outcome, body } = (isKnown ? cards[use.name] : undefined)?.(use) ?? generic(use);
  const failed = use.result?.['isError'] === true;
  const head = element(
    'header',
    {},
    element('span', { class: 'tool-name' }, ...plainText(oneLine(use.name, 80))),
    element('span', { class: 'tool-about' }, ...plainText(about)),
    element('span', { class: `outcome${failed ? ' failed' : ''}` }, outcomeOf(use, outcome)),
  );
  const pictures = picturesOf(use.result?.['content']);
  return element('section', { class: `tool${failed ? ' failed' : ''}` }, head, ...body, ...pictures);
}

function outcomeOf({ result, progress }: ToolUse, outcome: string | undefined): string {
  if (progress !== undefined) return progress;
  if (!result) return 'no result';
  const time = numberOf(result['durationMs']);
  const words = [result['isError'] === true ? (ended(wordsOf(result['content'])).how ?? 'failed') : outcome];
  return [...words, time > 0 ? duration(time) : undefined].filter(Boolean).join(' · ');
}

function bash({ call, result }: ToolUse): Card {
  const text = textOf(call['command']);
  const timeout = numberOf(call['timeout']);
  return {
    about: timeout > 0 ? `at most ${timeout} s` : '',
    body: [command(text), ...(result ? [output(ended(wordsOf(result['content'])).said)] : [])],
  };
}

function read({ call, result }: ToolUse): Card {
  const path = textOf(call['path']);
  const text = wordsOf(result?.['content']);
  const from = numberOf(call['offset']);
  const limit = numberOf(call['limit']);
  const range = from > 0 || limit > 0 ? `:${from || 1}${limit > 0 ? `–${(from || 1) + limit - 1}` : ''}` : '';
  if (!result || result['isError'] === true) return { about: path + range, body: problem(text) };
  const language = languageOf(path);
  const show = (part: string) => highlight(part, language);
  return {
    about: path + range,
    outcome: lineCount(text),
    body: text === '' ? [] : [folded('Content', clipped(text, { keep: 'head', lines: 200, show }))],
  };
}

function write({ call, result }: ToolUse): Card {
  const path = textOf(call['path']);
  const content = textOf(call['content']);
  const language = languageOf(path);
  const show = (part: string) => highlight(part, language);
  const failed = result?.['isError'] === true;
  return {
    about: path,
    outcome: lineCount(content),
    body: [clipped(content, { keep: 'head', lines: 12, show }), ...(failed ? problem(wordsOf(result['content'])) : [])],
  };
}

function edit({ call, result }: ToolUse): Card {
  const diff = diffOf(call, result?.['details']);
  const failed = result?.['isError'] === true;
  return {
    about: textOf(call['path']),
    outcome: diff === '' ? undefined : diffSize(diff),
    body: [
      ...(diff === '' ? [] : [clipped(diff, { keep: 'head', lines: 60, show: showDiff, class: 'diff' })]),
      ...(failed ? problem(wordsOf(result['content'])) : []),
    ],
  };
}

function generic({ call, result }: ToolUse): Card {
  const text = wordsOf(result?.['content']);
  const details = fieldsOf(result?.['details']);
  const [first] = Object.values(call).filter((value) => typeof value === 'string');
  const failed = result?.['isError'] === true;
  return {
    about: oneLine(textOf(first), 120),
    body: [
      ...(Object.keys(call).length === 0 ? [] : [folded('Arguments', codeBlock(prettyJson(call), 'json'))]),
      ...(failed ? problem(text) : text === '' ? [] : [clipped(text, { keep: 'head', lines: 12, class: 'output' })]),
      ...(Object.keys(details).length === 0 ? [] : [folded('Details', codeBlock(prettyJson(details), 'json'))]),
    ],
  };
}

const problem = (text: string): HTMLElement[] =>
  text === '' ? [] : [clipped(text, { keep: 'tail', lines: 20, class: 'output problem' })];

const folded = (title: string, content: HTMLElement): HTMLElement =>
  element('details', {}, element('summary', {}, title), content);
