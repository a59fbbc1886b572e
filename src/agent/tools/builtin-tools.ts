import type { Tool } from '../tool.ts';
import { bashTool } from './bash/bash.ts';
import type { ShellOptions } from './bash/shell.ts';
import { editTool } from './edit/edit.ts';
import { writeTool } from './edit/write.ts';
import { readTool } from './read/read.ts';
import { findTool } from './search/find.ts';
import { grepTool } from './search/grep.ts';
import { lsTool } from './search/ls.ts';
import { todoTool } from './todo.ts';

export const BUILTIN_TOOL_NAMES: readonly string[] = ['read', 'bash', 'edit', 'write', 'grep', 'find', 'ls', 'todo'];

/** Built-in tools in the order in which the model sees them. `executeTodo` works on the session's plan. */
export const builtinTools = (shell: ShellOptions, executeTodo: Tool['execute']): Tool[] => [
  readTool(shell.cwd),
  bashTool(shell),
  editTool(shell.cwd),
  writeTool(shell.cwd),
  grepTool(shell.cwd),
  findTool(shell.cwd),
  lsTool(shell.cwd),
  todoTool(executeTodo),
];
