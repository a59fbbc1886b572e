import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WireRecord } from '../clients/peer.ts';
import { type Home, newHome, writeSettings } from './test-agent.ts';

/** The text of a rule file: front matter and body. */
export const ruleText = (head: Record<string, unknown>, text = 'Mind the rule.') =>
  `---\n${Object.entries(head)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    .join('')}---\n${text}\n`;

/** Writes rule files into a folder, by name. */
export function writeRules(folder: string, rules: Record<string, string | Record<string, unknown>>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, rule] of Object.entries(rules)) {
    writeFileSync(join(folder, `${name}.md`), typeof rule === 'string' ? rule : ruleText(rule));
  }
}

/** Creates a home with these rules and settings for them. */
export function homeWithRules(rules: Record<string, string | Record<string, unknown>>, ttsr?: object): Home {
  const home = newHome();
  writeRules(join(home.agentDir, 'rules'), rules);
  if (ttsr) writeSettings(home, { ttsr });
  return home;
}

/** Names of the rules in each `ttsr_triggered` event. */
export const triggeredRules = (records: readonly WireRecord[]): string[][] =>
  records
    .filter(({ type }) => type === 'ttsr_triggered')
    .map(({ rules }) => (rules as { name: string }[]).map(({ name }) => name));

/** A script step in which the model calls a tool. */
export const toolCallStep = (name: string, args: object, more: object = {}) => ({
  toolCall: { name, arguments: args },
  ...more,
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes back
export type Message = Record<string, any>;

/** All ended messages, including hidden ones. */
export const endedMessages = (records: readonly WireRecord[]): Message[] =>
  records.filter(({ type }) => type === 'message_end').map(({ message }) => message as Message);
