import type { Tool } from '../../../../agent/tool.ts';
import { editTool } from '../../../../agent/tools/edit.ts';
import { findTool } from '../../../../agent/tools/find.ts';
import { grepTool } from '../../../../agent/tools/grep.ts';
import { lsTool } from '../../../../agent/tools/ls.ts';
import { readTool } from '../../../../agent/tools/read.ts';
import { writeTool } from '../../../../agent/tools/write.ts';
import type { FileOperations } from '../../operations.ts';
import type { ExtensionHome } from '../extension-home.ts';
import { type BashToolOptions, bashWith } from './bash-tool.ts';
import { editBy, readBy, writeBy } from './file-tools.ts';
import { localBashOperations } from './local-shell.ts';
import { asPiTool } from './pi-tool.ts';

interface FileToolOptions {
  readonly operations?: FileOperations;
}

/** tau's tools by the names under which extensions ask for them. */
export function toolMakers(shell: ExtensionHome['shell']) {
  const createReadTool = madeBy(readTool, readBy);
  const createEditTool = madeBy(editTool, editBy);
  const createWriteTool = madeBy(writeTool, writeBy);
  const createGrepTool = madeBy(grepTool, refusing(grepTool));
  const createFindTool = madeBy(findTool, refusing(findTool));
  const createLsTool = madeBy(lsTool, refusing(lsTool));
  const createBashTool = (cwd: string, options?: BashToolOptions) => asPiTool(bashWith(cwd, shell, options));
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

const madeBy =
  (ours: (cwd: string) => Tool, theirs: (cwd: string, operations: FileOperations) => Tool) =>
  (cwd: string, { operations }: FileToolOptions = {}) =>
    asPiTool(operations ? theirs(cwd, operations) : ours(cwd));

/** Better no answer than one from the wrong machine. */
const refusing =
  (ours: (cwd: string) => Tool) =>
  (cwd: string): Tool => ({
    ...ours(cwd),
    execute: async () => {
      throw new Error(`${ours(cwd).name} cannot be given operations in tau: it looks at files of this machine only`);
    },
  });
