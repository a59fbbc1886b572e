import { useMemo } from 'preact/hooks';
import { PlainText } from '../code/plain-text.tsx';
import { Markdown } from '../markdown/markdown.tsx';
import { asObject, asObjects, asText, type Untyped } from '../untyped.ts';
import type { MessageContext, ViewProps } from './message.tsx';
import { Notice } from './notice.tsx';
import { Thinking } from './thinking.tsx';
import { ToolCard } from './tools/tool-card.tsx';
import type { ToolUse } from './tools/tool-use.ts';
import { UsageFooter } from './usage-footer.tsx';
import { ViewScope } from './view-state.tsx';

/** Shows an assistant message: its thinking, text and tool calls in order, and its usage. */
export function AssistantMessageView({ message, context, children }: ViewProps) {
  const blocks = asObjects(message['content']);
  const isStreaming = context.isStreaming === true;
  return (
    <div class="response">
      {blocks.map((block, index) => (
        <ViewScope name={index}>
          <Block block={block} isGrowing={isStreaming && index === blocks.length - 1} {...callStatus(block, context)} />
        </ViewScope>
      ))}
      <StopNotice message={message} />
      {!isStreaming && <UsageFooter message={message}>{children}</UsageFooter>}
    </div>
  );
}

interface CallStatus extends Pick<ToolUse, 'progress'> {
  readonly result: object | undefined;
}

function callStatus(block: Untyped, { resultOf, progressOf, isStreaming }: MessageContext): CallStatus {
  if (block['type'] !== 'toolCall') return { result: undefined };
  const id = asText(block['id']);
  return { result: resultOf(id), progress: progressOf?.(id) ?? (isStreaming ? 'waiting' : undefined) };
}

interface BlockProps extends CallStatus {
  readonly block: Untyped;
  readonly isGrowing: boolean;
}

/** Memoised: finished blocks are not drawn again while the message streams. */
const Block = ({ block, isGrowing, result, progress }: BlockProps) =>
  useMemo(() => renderBlock({ block, isGrowing, result, progress }), [block, isGrowing, result, progress]);

function renderBlock({ block, isGrowing, result, progress }: BlockProps) {
  const text = asText(block['text']);
  switch (block['type']) {
    case 'text':
      return text.trim() === '' ? null : <Markdown text={text} isStreaming={isGrowing} />;
    case 'thinking':
      return <Thinking block={block} isGrowing={isGrowing} />;
    case 'toolCall':
      return (
        <ToolCard
          id={asText(block['id'])}
          name={asText(block['name'])}
          call={asObject(block['arguments'])}
          result={result && asObject(result)}
          progress={progress}
        />
      );
    default:
      return <Notice text={`A part of an unknown type: ${asText(block['type']).slice(0, 60)}`} />;
  }
}

function StopNotice({ message }: { readonly message: Untyped }) {
  switch (message['stopReason']) {
    case 'error':
      return (
        <p class="failure">
          <PlainText text={asText(message['errorMessage']) || 'The model failed'} />
        </p>
      );
    case 'aborted':
      return <p class="note">{message['errorCode'] === 'interrupted' ? 'Interrupted' : 'Stopped'}</p>;
    case 'length':
      return <p class="note">Cut off: the answer reached its longest length</p>;
    default:
      return null;
  }
}
