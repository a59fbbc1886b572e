/**
 * Asks before a dangerous command runs.
 *
 *   tau --mode rpc -e examples/extensions/permission-gate.ts
 *
 * Without a client that can show dialogs, on a timeout or when the user blocks it, the command does not run.
 */
import type { ExtensionAPI } from '@earendil-works/pi-coding-agent';

const DANGEROUS = [
  /\brm\s+(-\w*[rf]|--recursive|--force)/,
  /\bsudo\b/,
  /\bgit\s+push\s.*--force/,
  /\bmkfs\b/,
  /\bdd\s+.*of=/,
];

const DIALOG_TIMEOUT_MS = Number(process.env['PERMISSION_GATE_TIMEOUT_MS'] ?? 60_000);

export default function permissionGate(pi: ExtensionAPI): void {
  pi.on('tool_call', async ({ toolName, input }, ctx) => {
    const command = String(input['command'] ?? '');
    if (toolName !== 'bash' || !DANGEROUS.some((pattern) => pattern.test(command))) return undefined;
    if (!ctx.hasUI) return { block: true, reason: 'Blocked: a dangerous command, and nobody to ask' };

    const answer = await ctx.ui.select(`Allow this command?\n\n  ${command}`, ['Allow', 'Block'], {
      timeout: DIALOG_TIMEOUT_MS,
    });
    if (answer === 'Allow') return undefined;
    ctx.ui.notify(`Blocked: ${command}`, 'warning');
    return { block: true, reason: 'Blocked by the user' };
  });
}
