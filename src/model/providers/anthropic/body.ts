import type { ModelRequest, ToolSpec } from '../../request.ts';
import { type CacheMark, lastMarked } from './cache-mark.ts';
import type { TextBlock } from './content.ts';
import { type Turn, turnsOf } from './messages.ts';
import { type Depth, depthOf } from './thinking.ts';

/** What is posted. The same question always makes the same bytes, or nothing would be found in the cache. */
export interface Body extends Depth {
  readonly model: string;
  readonly system?: readonly (TextBlock & CacheMark)[];
  readonly tools?: readonly (Tool & CacheMark)[];
  readonly messages: readonly Turn[];
  readonly stream: true;
}

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: object;
}

export function bodyOf(request: ModelRequest): Body {
  const { model, systemPrompt, tools, messages } = request;
  const turns = turnsOf(messages, model);
  return {
    model: model.id,
    ...depthOf(request, turns),
    ...(systemPrompt.trim() === '' ? {} : { system: lastMarked([{ type: 'text', text: systemPrompt }]) }),
    ...(tools.length === 0 ? {} : { tools: lastMarked(tools.map(toolOf)) }),
    messages: withMark(turns),
    stream: true,
  };
}

const toolOf = ({ name, description, parameters }: ToolSpec): Tool => ({
  name,
  description,
  input_schema: { type: 'object', ...parameters },
});

/** The conversation up to what was said last to the model is worth keeping: the next question begins with it. */
function withMark(turns: readonly Turn[]): Turn[] {
  const last = turns.findLast(({ role }) => role === 'user');
  return turns.map((turn) =>
    turn === last && turn.role === 'user' ? { ...turn, content: lastMarked(turn.content) } : turn,
  );
}
