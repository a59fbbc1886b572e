import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Home, newHome, setUp } from './open.ts';
import type { Record_ } from './peer.ts';

/** The text of a rule file: its head, line by line, and what it says. */
export const ruleText = (head: Record<string, unknown>, text = 'Mind the rule.') =>
  `---\n${Object.entries(head)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    .join('')}---\n${text}\n`;

/** Puts rules into a folder, by their names. */
export function putRules(folder: string, rules: Record<string, string | Record<string, unknown>>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, rule] of Object.entries(rules)) {
    writeFileSync(join(folder, `${name}.md`), typeof rule === 'string' ? rule : ruleText(rule));
  }
}

/** A user with these rules, and with what is set for them. */
export function homeWithRules(rules: Record<string, string | Record<string, unknown>>, ttsr?: object): Home {
  const home = newHome();
  putRules(join(home.agentDir, 'rules'), rules);
  if (ttsr) setUp(home, { ttsr });
  return home;
}

/** Which rules clients were told of, time by time. */
export const triggered = (records: readonly Record_[]): string[][] =>
  records
    .filter(({ type }) => type === 'ttsr_triggered')
    .map(({ rules }) => (rules as { name: string }[]).map(({ name }) => name));

/** A step of a script that calls a tool. */
export const call = (name: string, args: object, more: object = {}) => ({
  toolCall: { name, arguments: args },
  ...more,
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes back
export type Message = Record<string, any>;

/** The messages that ended, the hidden ones among them. */
export const ended = (records: readonly Record_[]): Message[] =>
  records.filter(({ type }) => type === 'message_end').map(({ message }) => message as Message);
