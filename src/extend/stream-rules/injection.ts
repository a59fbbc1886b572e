import type { CustomMessage } from '../../protocol/generated/vocabulary.ts';
import type { SessionLog } from '../../store/sessions/session-log.ts';
import type { Settings } from '../../store/settings.ts';
import type { Rule } from './rule.ts';

/** The custom type of stored rule messages. */
export const INJECTION_TYPE = 'ttsr-injection';

/** The names of the rules, stored with the message. */
export const detailsOf = (rules: readonly Rule[]) => ({ rules: rules.map(({ facts }) => facts.name) });

/** Explains an interruption to the model. `partialText` is the response so far, if the model shall continue it. */
export function interruptMessage(rules: readonly Rule[], partialText: string | undefined): CustomMessage {
  const parts = rules.map((rule) => tagged('system-interrupt', rule, INTERRUPTED));
  if (partialText) parts.push(`This is what you had said when you were stopped:\n<said>\n${partialText}\n</said>`);
  return injection(rules, parts.join('\n\n'));
}

/** Reminds the model of the rules after its response. */
export const reminderMessage = (rules: readonly Rule[]): CustomMessage =>
  injection(rules, rules.map((rule) => tagged('system-reminder', rule, REMINDED)).join('\n\n'));

/** Reminds the model of the rules before a tool result. */
export const resultReminder = (rules: readonly Rule[]): string =>
  rules.map((rule) => tagged('system-reminder', rule, CALLED)).join('\n\n');

const injection = (rules: readonly Rule[], content: string): CustomMessage => ({
  role: 'custom',
  customType: INJECTION_TYPE,
  content,
  display: false,
  details: detailsOf(rules),
  timestamp: Date.now(),
});

function tagged(tag: string, { facts: { name, content } }: Rule, introduction: string): string {
  const attribute = name.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  return `<${tag} reason="rule_violation" rule="${attribute}">\n${introduction}\n\n${content}\n</${tag}>`;
}

const INTERRUPTED =
  'You were stopped in the middle of your answer: it was about to break the rule below. The user did not stop you. Answer again, and keep to the rule.';

const REMINDED =
  'Something in your last answer breaks the rule below. Put right what can be put right, and keep to the rule from now on.';

const CALLED = 'This call was made, but its arguments break the rule below. Keep to the rule from now on.';

const DEFAULT_REPEAT_GAP = 10;

/** The rules that matched on this branch and must not match again yet. */
export function suppressedRules(
  log: SessionLog,
  { repeatMode = 'once', repeatGap = DEFAULT_REPEAT_GAP }: NonNullable<Settings['ttsr']>,
) {
  const gap = repeatMode === 'once' ? Infinity : repeatGap;
  const suppressed = new Set<string>();
  let responses = 0;
  for (const { id, role } of log.nodesOfKind('assistant', INJECTION_TYPE)) {
    if (responses >= gap) break;
    if (role === 'assistant') responses++;
    else for (const name of injectedRuleNames(log, id)) suppressed.add(name);
  }
  return suppressed;
}

function injectedRuleNames(log: SessionLog, id: string): string[] {
  const entry = log.entry(id);
  const details = entry?.type === 'custom_message' ? entry.details : entry?.type === 'custom' ? entry.data : undefined;
  const { rules } = (details ?? {}) as { rules?: unknown };
  return Array.isArray(rules) ? rules.filter((name) => typeof name === 'string') : [];
}
