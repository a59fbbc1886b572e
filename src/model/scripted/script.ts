import { check, type Schema } from '../../protocol/check.ts';
import { messageOf } from '../../protocol/errors.ts';
import { isObject } from '../../protocol/json.ts';
import type { ModelRequest } from '../request.ts';
import { type ScriptedStep, stepSchemas } from './step.ts';
import { lastUserText } from './transcript.ts';

/** The answers of the scripted model, in order. */
export interface Script {
  readonly answers: readonly ScriptedAnswer[];
  /** Starts over when no answer is left. */
  readonly repeat: boolean;
}

/** A line of a script. */
export interface ScriptedAnswer {
  readonly steps: readonly ScriptedStep[];
  /** Restricts the answer to a matching last user text. */
  readonly when?: RegExp;
  /** The answer may be used again. */
  readonly keep: boolean;
}

/** A script file with an invalid line. */
export class ScriptError extends Error {
  override readonly name = 'ScriptError';
  readonly line: number;

  constructor(file: string, line: number, problem: string) {
    super(`${file}:${line}: ${problem}`);
    this.line = line;
  }
}

/** Parses a script: JSON lines, one answer each. `name` is the file name in errors. */
export function parseScript(text: string, name: string): Script {
  const answers: ScriptedAnswer[] = [];
  let repeat = false;
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    const source = line.trim();
    if (source === '' || source.startsWith('//')) continue;
    try {
      if (repeat) throw new LineProblem('nothing may follow {"repeat":true}');
      const value = parseLine(source);
      if (Object.hasOwn(value, 'repeat')) repeat = parseRepeat(value, answers.length);
      else answers.push(parseAnswer(value));
    } catch (error) {
      if (error instanceof LineProblem) throw new ScriptError(name, index + 1, error.message);
      throw error;
    }
  }
  return { answers, repeat };
}

class LineProblem extends Error {}

type Fields = Readonly<Record<string, unknown>>;

function parseLine(source: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch (error) {
    throw new LineProblem(`not JSON: ${messageOf(error)}`);
  }
  if (!isObject(value)) throw new LineProblem('a line must be an object');
  return value;
}

function parseRepeat(value: Fields, answersSoFar: number): true {
  requireSchema({ type: 'object', properties: { repeat: { const: true } }, additionalProperties: false }, value);
  if (answersSoFar === 0) throw new LineProblem('there is no answer to repeat');
  return true;
}

function parseAnswer({ when, keep, ...rest }: Fields): ScriptedAnswer {
  requireSchema({ properties: { when: { type: 'string' }, keep: { type: 'boolean' } } }, { when, keep });
  if (keep === true && when === undefined) throw new LineProblem('keep needs when');
  const steps = Object.hasOwn(rest, 'steps') ? parseSteps(rest) : [parseStep(rest, '')];
  return { steps, keep: keep === true, ...(typeof when === 'string' && { when: parsePattern(when) }) };
}

function parseSteps(value: Fields): ScriptedStep[] {
  requireSchema({ type: 'object', properties: { steps: { type: 'array' } }, additionalProperties: false }, value);
  const steps: readonly unknown[] = Array.isArray(value['steps']) ? value['steps'] : [];
  return steps.map((step, index) => parseStep(step, `steps[${index}]: `));
}

function parseStep(value: unknown, location: string): ScriptedStep {
  if (!isObject(value)) throw new LineProblem(`${location}a step must be an object`);
  const problem = stepProblem(value);
  if (problem !== undefined) throw new LineProblem(location + problem);
  return value as unknown as ScriptedStep;
}

function stepProblem(value: Fields): string | undefined {
  const [kind, second] = Object.keys(stepSchemas).filter((key) => Object.hasOwn(value, key));
  const schema = stepSchemas[kind ?? ''];
  if (kind === undefined || schema === undefined) {
    const found = Object.keys(value).map((key) => JSON.stringify(key));
    return `a step has one of ${Object.keys(stepSchemas).join(', ')}; this one has ${found.join(', ') || 'nothing'}`;
  }
  const isPart = second === 'delayMs' || Object.hasOwn(schema.properties ?? {}, second ?? '');
  if (second !== undefined && !isPart) return `${kind} and ${second} exclude each other`;
  const problem = check(schema, value, { closed: true });
  if (problem !== undefined) return problem;
  if (Object.hasOwn(value, 'times') && Object.hasOwn(value, 'chunks')) return 'chunks and times exclude each other';
  const call = value['toolCall'];
  if (isObject(call) && Object.hasOwn(call, 'arguments') && Object.hasOwn(call, 'rawArguments')) {
    return 'toolCall.arguments and toolCall.rawArguments exclude each other';
  }
  return undefined;
}

function parsePattern(source: string): RegExp {
  try {
    return new RegExp(source);
  } catch (error) {
    throw new LineProblem(`when: ${messageOf(error)}`);
  }
}

function requireSchema(schema: Schema, value: unknown): void {
  const problem = check(schema, value, { closed: true });
  if (problem !== undefined) throw new LineProblem(problem);
}

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
