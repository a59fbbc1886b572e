import type { ModelMessage, ModelRequest } from '../../request.ts';

const CHARACTERS_PER_TOKEN = 4;
const CHARACTERS_PER_IMAGE = 4800;

/** However full the context looks: below this the server may say for itself that nothing fits any more. */
const SHORTEST = 4096;

/** How many tokens the answer may have. Servers refuse a request that could outgrow the context of the model. */
export function longestAnswer(request: ModelRequest): number {
  const { model, maxTokens = model.maxTokens } = request;
  const wanted = Math.min(maxTokens, model.maxTokens);
  if (model.contextWindow === 0) return wanted;
  const left = model.contextWindow - Math.ceil(lengthOf(request) / CHARACTERS_PER_TOKEN);
  return Math.min(wanted, Math.max(left, SHORTEST));
}

function lengthOf({ systemPrompt, messages, tools }: ModelRequest): number {
  const said = messages.reduce((sum, message) => sum + lengthOfMessage(message), 0);
  return systemPrompt.length + said + JSON.stringify(tools).length;
}

function lengthOfMessage({ content }: ModelMessage): number {
  if (typeof content === 'string') return content.length;
  return content.reduce((sum, block) => sum + lengthOfBlock(block), 0);
}

type Block = Exclude<ModelMessage['content'], string>[number];

function lengthOfBlock(block: Block): number {
  switch (block.type) {
    case 'text':
      return block.text.length;
    case 'thinking':
      return block.thinking.length;
    case 'image':
      return CHARACTERS_PER_IMAGE;
    case 'toolCall':
      return block.name.length + JSON.stringify(block.arguments).length;
    default:
      return block satisfies never;
  }
}
