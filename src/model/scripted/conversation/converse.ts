import type { ImageContent } from '../../../protocol/generated/vocabulary.ts';
import type { ModelRequest } from '../../request.ts';
import type { ScriptedStep } from '../step.ts';
import { type PromptState, promptStateIn } from '../transcript.ts';
import { outcomeOf } from './outcomes.ts';
import { phasesOf, type ScriptedPhase } from './requests.ts';
import { counted, excerpt } from './wording.ts';

/** The scripted model's response if there is no script. Equal requests get equal responses. */
export function converse(request: ModelRequest): readonly ScriptedStep[] {
  const prompt = promptStateIn(request.messages);
  const { text, images } = prompt;
  const summary = summaryOf(text);
  if (summary) return summary;
  const phases = phasesOf(text, { tools: request.tools, model: request.model, images }) ?? [introductionPhase(prompt)];
  const requestedSteps = phasesDue(phases, prompt.turnsTaken);
  if (requestedSteps[0] && isRefusal(requestedSteps[0])) return requestedSteps;
  const steps = withBlankLines([...reportSteps(prompt), ...requestedSteps]);
  const response = steps.length > 0 ? steps : [{ text: 'There is nothing more to do.' }];
  const thinks = request.thinkingLevel !== 'off' && request.model.reasoning;
  return thinks && !response.some((step) => 'thinking' in step) ? [thinkingStep(prompt), ...response] : response;
}

// Reports images and tool results before the requested steps.
function reportSteps({ images, turnsTaken, results }: PromptState): ScriptedStep[] {
  if (turnsTaken === 0 && images.length > 0) return [{ text: describeImages(images) }];
  return results.map((result) => ({ text: outcomeOf(result) }));
}

const introductionPhase = ({ text, images }: PromptState): ScriptedPhase =>
  images.length > 0 ? [] : [{ text: introduction(text) }];

// The phases up to the next one with tool calls, given how many such phases are done.
function phasesDue(phases: readonly ScriptedPhase[], turnsTaken: number): ScriptedPhase {
  const calling = phases.flatMap((phase, index) => (phase.some((step) => 'toolCall' in step) ? [index] : []));
  const from = turnsTaken === 0 ? 0 : (calling[turnsTaken - 1] ?? phases.length) + 1;
  const to = calling[turnsTaken] ?? phases.length;
  return phases.slice(from, to + 1).flat();
}

const isRefusal = (step: ScriptedStep): boolean => 'error' in step || 'overflow' in step;

// Adjacent texts form one block; a blank line separates them.
function withBlankLines(steps: readonly ScriptedStep[]): ScriptedStep[] {
  return steps.map((step, index) => {
    const before = steps[index - 1];
    return 'text' in step && before && 'text' in before ? { ...step, text: `\n\n${step.text}` } : step;
  });
}

const thinkingStep = ({ text, results }: PromptState): ScriptedStep => ({
  thinking:
    results.length > 0
      ? 'The tools have answered. I tell what they gave.'
      : `The message reads “${excerpt(text, 80)}”.`,
});

function describeImages(images: readonly ImageContent[]): string {
  const each = images.map(({ mimeType, data }) => `${mimeType}, ${counted(bytesIn(data), 'byte')}`);
  return `You sent ${counted(images.length, 'image')}: ${each.join('; ')}. I am scripted and do not look at images.`;
}

const bytesIn = (base64: string): number => Math.floor((base64.replace(/=+$/, '').length * 3) / 4);

// The response to a prompt that the model does not understand.
function introduction(text: string): string {
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

const LONGEST_REQUEST = 120;

// The response to a request to summarise a conversation; undefined for other texts.
function summaryOf(text: string): ScriptedStep[] | undefined {
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
