import type { Finding } from '../protocol/generated/vocabulary.ts';
import { terminalJson, terminalText } from '../system/terminal-text.ts';

/** Prints findings as a table or as JSON. Returns exit code 1 if one of them is an error. */
export function printFindings(findings: readonly Finding[], { asJson }: { asJson: boolean }): number {
  const ok = findings.every(({ status }) => status !== 'error');
  process.stdout.write(
    asJson ? `${terminalJson(JSON.stringify({ ok, findings }, null, 2))}\n` : findingsTable(findings),
  );
  return ok ? 0 : 1;
}

const RESET = '\x1b[0m';

// The mark of a finding on a terminal with colours, and elsewhere.
const signs = {
  ok: { sign: '✓', colour: '\x1b[32m', word: 'ok' },
  warning: { sign: '!', colour: '\x1b[33m', word: 'warning' },
  error: { sign: '✗', colour: '\x1b[31m', word: 'error' },
} as const satisfies Record<Finding['status'], object>;

function findingsTable(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const isScreen = process.stdout.isTTY && !process.env['NO_COLOR'];
  const rows = findings.map(({ check, status, message }) => {
    const { sign, colour, word } = signs[status];
    const mark = isScreen ? `${colour}${sign}${RESET}` : word.padEnd(signs.warning.word.length);
    return `${mark} ${terminalText(check).padEnd(width)}  ${terminalText(message)}\n`;
  });
  return `${rows.join('')}\n${summary(findings)}\n`;
}

function summary(findings: readonly Finding[]): string {
  const count = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length;
  const errors = count('error');
  const warnings = count('warning');
  if (errors + warnings === 0) return 'Nothing is wrong.';
  return `${plural(errors, 'error')}, ${plural(warnings, 'warning')}.`;
}

const plural = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
