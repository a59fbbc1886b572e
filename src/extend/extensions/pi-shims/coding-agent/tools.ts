import type { Tool } from '../../../../agent/tool.ts';
import { editTool } from '../../../../agent/tools/edit/edit.ts';
import { writeTool } from '../../../../agent/tools/edit/write.ts';
import { readTool } from '../../../../agent/tools/read/read.ts';
import { findTool } from '../../../../agent/tools/search/find.ts';
import { grepTool } from '../../../../agent/tools/search/grep.ts';
import { lsTool } from '../../../../agent/tools/search/ls.ts';
import type { FileToolOperations } from '../../api/bash-backend.ts';
import type { ExtensionEnvironment } from '../extension-environment.ts';
import { type BashToolOptions, customBash } from './bash-tool.ts';
import { editWith, readWith, writeWith } from './file-tools.ts';
import { localBashOperations } from './local-shell.ts';
import { asPiTool } from './pi-tool.ts';

/** Options of the factories of file tools. */
export interface FileToolOptions {
  readonly operations?: FileToolOperations;
}

/** tau's tools under pi's factory names. */
export function toolFactories(shell: ExtensionEnvironment['shell']) {
  const createReadTool = factoryFor(readTool, readWith);
  const createEditTool = factoryFor(editTool, editWith);
  const createWriteTool = factoryFor(writeTool, writeWith);
  const createGrepTool = factoryFor(grepTool, rejectingOperations(grepTool));
  const createFindTool = factoryFor(findTool, rejectingOperations(findTool));
  const createLsTool = factoryFor(lsTool, rejectingOperations(lsTool));
  const createBashTool = (cwd: string, options?: BashToolOptions) =>
    asPiTool(withPromptLines(customBash(cwd, shell, options)));
  return {
    createReadTool,
    createEditTool,
    createWriteTool,
    createGrepTool,
    createFindTool,
    createLsTool,
    createBashTool,
    createReadToolDefinition: createReadTool,
    createEditToolDefinition: createEditTool,
    createWriteToolDefinition: createWriteTool,
    createGrepToolDefinition: createGrepTool,
    createFindToolDefinition: createFindTool,
    createLsToolDefinition: createLsTool,
    createBashToolDefinition: createBashTool,
    createCodingTools: (cwd: string) =>
      [createReadTool, createBashTool, createEditTool, createWriteTool].map((create) => create(cwd)),
    createReadOnlyTools: (cwd: string) =>
      [createReadTool, createGrepTool, createFindTool, createLsTool].map((create) => create(cwd)),
    createLocalBashOperations: (options?: { shellPath?: string }) => localBashOperations(shell, options),
  };
}

/** The lines about the tools in the system prompt of an extension that registers them. */
const PROMPT_LINES: Readonly<Record<string, Pick<Tool, 'promptSnippet' | 'promptGuidelines'>>> = {
  read: { promptSnippet: 'Read files', promptGuidelines: ['Read files with read, not with cat or sed.'] },
  bash: {
    promptSnippet: 'Run shell commands',
    promptGuidelines: ['Use bash for commands such as ls, grep and find, and to run programs.'],
  },
  edit: {
    promptSnippet: 'Replace parts of files',
    promptGuidelines: [
      'Change existing files with edit; each oldText must match the file exactly.',
      'Put all changes of one file into one call of edit.',
    ],
  },
  write: {
    promptSnippet: 'Create or replace files',
    promptGuidelines: ['Use write for new files and complete rewrites only.'],
  },
  grep: { promptSnippet: 'Search the contents of files' },
  find: { promptSnippet: 'Find files by name' },
  ls: { promptSnippet: 'List folders' },
};

const withPromptLines = (tool: Tool): Tool => ({ ...tool, ...PROMPT_LINES[tool.name] });

const factoryFor =
  (local: (cwd: string) => Tool, withOperations: (cwd: string, operations: FileToolOperations) => Tool) =>
  (cwd: string, { operations }: FileToolOptions = {}) =>
    asPiTool(withPromptLines(operations ? withOperations(cwd, operations) : local(cwd)));

// An error is better than a result from the wrong machine.
const rejectingOperations =
  (local: (cwd: string) => Tool) =>
  (cwd: string): Tool => ({
    ...local(cwd),
    execute: async () => {
      throw new Error(`${local(cwd).name} cannot be given operations in tau: it looks at files of this machine only`);
    },
  });
