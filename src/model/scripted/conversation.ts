import type { ImageContent } from '../../protocol/generated/vocabulary.ts';
import type { ModelRequest } from '../request.ts';
import { introduction } from './conversation/introduction.ts';
import { outcomeOf } from './conversation/outcomes.ts';
import { type Phase, phasesOf } from './conversation/requests.ts';
import { summaryOf } from './conversation/summary.ts';
import { counted, excerpt } from './conversation/wording.ts';
import type { ScriptedStep } from './step.ts';
import { type Question, questionIn } from './transcript.ts';

/** What the scripted model answers when it has no script. The same request always gets the same answer. */
export function converse(request: ModelRequest): readonly ScriptedStep[] {
  const question = questionIn(request.messages);
  const { text, images } = question;
  const summary = summaryOf(text);
  if (summary) return summary;
  const phases = phasesOf(text, { tools: request.tools, model: request.model, images }) ?? [unasked(question)];
  const asked = due(phases, question.turnsTaken);
  if (asked[0] && isRefusal(asked[0])) return asked;
  const steps = spaced([...news(question), ...asked]);
  const answer = steps.length > 0 ? steps : [{ text: 'There is nothing more to do.' }];
  const thinks = request.thinkingLevel !== 'off' && request.model.reasoning;
  return thinks && !answer.some((step) => 'thinking' in step) ? [thought(question), ...answer] : answer;
}

/** What there is to tell before doing what was asked. */
function news({ images, turnsTaken, results }: Question): ScriptedStep[] {
  if (turnsTaken === 0 && images.length > 0) return [{ text: describe(images) }];
  return results.map((result) => ({ text: outcomeOf(result) }));
}

const unasked = ({ text, images }: Question): Phase => (images.length > 0 ? [] : [{ text: introduction(text) }]);

/** The phases up to the next that calls tools, given how many such phases are over. */
function due(phases: readonly Phase[], turnsTaken: number): Phase {
  const calling = phases.flatMap((phase, index) => (phase.some((step) => 'toolCall' in step) ? [index] : []));
  const from = turnsTaken === 0 ? 0 : (calling[turnsTaken - 1] ?? phases.length) + 1;
  const to = calling[turnsTaken] ?? phases.length;
  return phases.slice(from, to + 1).flat();
}

const isRefusal = (step: ScriptedStep): boolean => 'error' in step || 'overflow' in step;

/** Texts that follow each other make one block; an empty line keeps them apart. */
function spaced(steps: readonly ScriptedStep[]): ScriptedStep[] {
  return steps.map((step, index) => {
    const before = steps[index - 1];
    return 'text' in step && before && 'text' in before ? { ...step, text: `\n\n${step.text}` } : step;
  });
}

const thought = ({ text, results }: Question): ScriptedStep => ({
  thinking:
    results.length > 0
      ? 'The tools have answered. I tell what they gave.'
      : `The message reads “${excerpt(text, 80)}”.`,
});

function describe(images: readonly ImageContent[]): string {
  const each = images.map(({ mimeType, data }) => `${mimeType}, ${counted(bytesIn(data), 'byte')}`);
  return `You sent ${counted(images.length, 'image')}: ${each.join('; ')}. I am scripted and do not look at images.`;
}

const bytesIn = (base64: string): number => Math.floor((base64.replace(/=+$/, '').length * 3) / 4);
