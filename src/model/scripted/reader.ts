import type { ModelRequest } from '../request.ts';
import type { Script, ScriptedAnswer } from './script.ts';
import type { ScriptedStep } from './step.ts';
import { lastUserText } from './transcript.ts';

/** Returns a function that yields the steps of the first matching, unused answer of a script. */
export function scriptReader(script: Script): (request: ModelRequest) => readonly ScriptedStep[] {
  let remaining = script.answers;
  return ({ messages }) => {
    const text = lastUserText(messages);
    let answer = firstMatch(remaining, text);
    if (answer === undefined && script.repeat) {
      remaining = script.answers;
      answer = firstMatch(remaining, text);
    }
    if (answer === undefined) return [{ text: 'The script has no more answers.' }];
    if (!answer.keep) remaining = remaining.filter((other) => other !== answer);
    return answer.steps;
  };
}

const firstMatch = (answers: readonly ScriptedAnswer[], text: string): ScriptedAnswer | undefined =>
  answers.find(({ when }) => when === undefined || when.test(text));
