import type { ToolSpec } from '../../../../model/request.ts';
import { check } from '../../../../protocol/check.ts';

interface RequestedCall {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

/** A schema for one of several strings, in the form that every provider accepts. */
export const StringEnum = (values: readonly string[], options: object = {}): object => ({
  type: 'string',
  enum: [...values],
  ...options,
});

/** Returns the arguments of a call, or throws an error that names the problem. */
export function validateToolArguments({ parameters }: ToolSpec, call: RequestedCall): Record<string, unknown> {
  const problem = check(parameters, call.arguments);
  if (problem !== undefined) throw new Error(`Validation failed for tool "${call.name}": ${problem}`);
  return call.arguments;
}

export function validateToolCall(tools: readonly ToolSpec[], call: RequestedCall): Record<string, unknown> {
  const tool = tools.find(({ name }) => name === call.name);
  if (!tool) throw new Error(`Tool "${call.name}" not found`);
  return validateToolArguments(tool, call);
}
