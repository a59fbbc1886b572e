import { type Tool, ToolError, type ToolOutput } from '../../../../agent/tool.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** A tool in pi's shape. */
export interface PiTool extends Omit<Tool, 'execute'> {
  readonly label: string;
  readonly execute: (
    toolCallId: string,
    params: Arguments,
    signal?: AbortSignal,
    onUpdate?: (output: ToolOutput) => void,
  ) => Promise<ToolOutput>;
}

/** Converts one of tau's tools to pi's shape. */
export function asPiTool({ execute, ...tool }: Tool): PiTool {
  return {
    ...tool,
    label: tool.name,
    execute: async (toolCallId, params, signal = new AbortController().signal, update = () => {}) => {
      try {
        return await execute({ toolCallId, args: params, signal, update });
      } catch (error) {
        throw error instanceof ToolError ? new Error(outputText(error.output), { cause: error }) : error;
      }
    },
  };
}

const outputText = ({ content }: ToolOutput): string =>
  content.map((block) => (block.type === 'text' ? block.text : '[image]')).join('\n');
