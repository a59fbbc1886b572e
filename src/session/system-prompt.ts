import type { Tool } from '../agent/tool.ts';

/** What a model is told before the conversation. */
export function systemPrompt({ cwd, tools }: { cwd: string; tools: readonly Tool[] }): string {
  const list = tools.map(({ name, description }) => `- ${name}: ${description}`).join('\n');
  return `You are a coding agent. You work in a folder on the user's machine and act through tools.

Tools:
${list || '(none)'}

Look before you change things, keep changes small, name the files you touch, and say plainly when something failed.
Working directory: ${cwd}`;
}
