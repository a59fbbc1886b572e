import { type ToolOutput, textOutput } from '../../agent/tool.ts';
import type { ContentBlock } from '../../protocol/generated/vocabulary.ts';
import { imageProblem } from '../../session/input/input.ts';

// Removes unknown fields.
export const withKnownFields = ({ content, details }: ToolOutput): ToolOutput => ({
  content: content.map(knownBlockFields),
  ...(details === undefined ? {} : { details }),
});

// A failure always has a text.
export function failureOutput(output: ToolOutput): ToolOutput {
  const isBlank = output.content.every((block) => block.type === 'text' && block.text.trim() === '');
  return withKnownFields(isBlank ? { ...output, ...textOutput('Host tool execution failed') } : output);
}

// Why no model would accept this output.
export function imageProblemIn({ content }: ToolOutput): string | undefined {
  for (const [index, block] of content.entries()) {
    const problem = block.type === 'image' ? imageProblem(block) : undefined;
    if (problem) return `result.content[${index}] ${problem}`;
  }
  return undefined;
}

const knownBlockFields = (block: ContentBlock): ContentBlock =>
  block.type === 'text'
    ? { type: 'text', text: block.text }
    : { type: 'image', data: block.data, mimeType: block.mimeType };
