import type { ScriptedStep } from '../step.ts';
import { type PhraseContext, type PhrasePlan, planFor } from './phrases.ts';
import { excerpt } from './wording.ts';

// Each name of a list is tried together with the ones before it: this bounds the quadratic time.
const LONGEST_LIST = 2_000;

/** The steps of one phase. */
export type ScriptedPhase = readonly ScriptedStep[];

/**
 * Splits a message into requests. "and" joins requests of one phase; "then" and a line break begin the next. Returns
 * undefined if the first words are no request; later words that are none belong to the request before them.
 */
export function phasesOf(text: string, context: PhraseContext): readonly ScriptedPhase[] | undefined {
  const requests: ParsedRequest[] = [];
  for (const part of partsOf(text)) {
    const source = text.slice(part.from, part.to);
    const plan = planFor(source, context);
    const last = requests.at(-1);
    if (plan) requests.push({ ...part, plan });
    else if (last === undefined) return undefined;
    else if (last.plan.open) last.to = part.to;
    else {
      const both = part.to - last.from < LONGEST_LIST && planFor(text.slice(last.from, part.to), context);
      if (both) Object.assign(last, { to: part.to, plan: both });
      else requests.push({ ...part, plan: { steps: [], open: true } });
    }
  }
  if (requests.length === 0) return undefined;
  return grouped(requests.map((request) => ({ ...request, plan: fullPlan(request, text, context) })));
}

interface RequestPart {
  readonly joint: 'and' | 'then';
  readonly from: number;
  to: number;
}

interface ParsedRequest extends RequestPart {
  plan: PhrasePlan;
}

const protectedSpans = /```[\s\S]*?```|`[^`]*`|"[^"\n]*"|“[^”\n]*”|(?<=^|[\s:])'[^'\n]*'(?=$|[\s.,;!?])/g;
const joints = /[,.;]?[ \t](?:and[ \t])?then,?[ \t]|[,.;]?[ \t]and[ \t]|[\r\n]+/gi;

function partsOf(text: string): RequestPart[] {
  const visible = text.replace(protectedSpans, (span) => '_'.repeat(span.length));
  const parts: RequestPart[] = [];
  let from = 0;
  let joint: RequestPart['joint'] = 'then';
  const add = (to: number) => {
    if (text.slice(from, to).trim() !== '') parts.push({ joint, from, to });
  };
  for (const { 0: found, index } of visible.matchAll(joints)) {
    add(index);
    from = index + found.length;
    joint = /then|[\r\n]/i.test(found) ? 'then' : 'and';
  }
  add(text.length);
  return parts;
}

function fullPlan({ plan, from, to }: ParsedRequest, text: string, context: PhraseContext): PhrasePlan {
  if (!plan.open) return plan;
  const source = text.slice(from, to);
  const unknown = { text: `I do not know what to do with “${excerpt(source, 80)}”.` };
  return planFor(source, context) ?? (plan.steps.length > 0 ? plan : { ...plan, steps: [unknown] });
}

function grouped(requests: readonly ParsedRequest[]): ScriptedPhase[] {
  const phases: ScriptedStep[][] = [];
  for (const { joint, plan } of requests) {
    if (joint === 'then' || phases.length === 0) phases.push([]);
    for (const step of plan.steps) phases.at(-1)?.push(step);
  }
  return phases;
}
