import type { ScriptedStep } from '../step.ts';
import { counted, excerpt } from './wording.ts';

const LONGEST_REQUEST = 120;

/** What is answered to somebody who wants a record of a conversation summed up; undefined for anything else. */
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
