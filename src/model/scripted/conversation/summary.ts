import type { ScriptedStep } from '../step.ts';
import { counted, excerpt } from './wording.ts';

const LONGEST_REQUEST = 120;

// The response to a request to summarise a conversation; undefined for other texts.
export function summaryOf(text: string): ScriptedStep[] | undefined {
  const record = /^<conversation>\n([\s\S]*)\n<\/conversation>/.exec(text)?.[1];
  if (record === undefined) return undefined;
  const requests = [...record.matchAll(/^\[User\]: (.*)/gm)].map(([, line = '']) => excerpt(line, LONGEST_REQUEST));
  const calls = [...record.matchAll(/^\[Tool call\]: (\w+)/gm)];
  const lines = [
    '## Goal',
    requests[0] ?? 'Not said.',
    '',
    '## Progress',
    ...requests.map((request) => `- [x] ${request}`),
    '',
    '## Critical Context',
    `- ${counted(requests.length, 'request')}, ${counted(calls.length, 'tool call')}. This summary is scripted.`,
  ];
  return [{ text: lines.join('\n') }];
}
