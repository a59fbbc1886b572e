import { excerpt } from './wording.ts';

// The response to a prompt that the model does not understand.
export function introduction(text: string): string {
  const echo = text.trim() === '' ? 'Your message has no text.' : `You wrote “${excerpt(text, 200)}”.`;
  return `${echo} I am the scripted model of tau, not a real model: I understand a few plain requests and nothing else.

You can ask me to:

${exampleRequests.map((request) => `- ${request}`).join('\n')}

Join requests with “and” to have them done at once, with “then” to have them done one after another.`;
}

const exampleRequests = [
  'list the files in src',
  'read package.json',
  'run `git status`',
  'write notes.txt: some text',
  'think about anything',
  'count to 100',
  'say anything',
  'tell you what is in this image, when you attach one',
  'fail with 529, stall, overflow, or cut the stream',
];
