import { useMemo } from 'preact/hooks';
import { PlainText } from '../code/plain-text.tsx';
import { type Fields, fieldsOf, listOf, textOf } from '../fields.ts';
import { Markdown } from '../markdown/markdown.tsx';
import { Account } from './account.tsx';
import { Place } from './choices.tsx';
import { Notice } from './found/notice.tsx';
import type { Surroundings, ViewProps } from './message.tsx';
import { Thinking } from './thinking.tsx';
import { ToolCard } from './tools/tool-card.tsx';
import type { ToolUse } from './tools/tool-use.ts';

/** An answer of the model: what it thought, said and had done, in that order, and what it cost. */
export function Answer({ message, around, children }: ViewProps) {
  const blocks = listOf(message['content']);
  const isStreaming = around.isStreaming === true;
  return (
    <div class="answer">
      {blocks.map((block, index) => (
        <Place name={index}>
          <Block block={block} isGrowing={isStreaming && index === blocks.length - 1} {...standingOf(block, around)} />
        </Place>
      ))}
      <Ending message={message} />
      {!isStreaming && <Account message={message}>{children}</Account>}
    </div>
  );
}

/** What became of a call, or will. */
interface Standing extends Pick<ToolUse, 'progress'> {
  readonly result: object | undefined;
}

function standingOf(block: Fields, { resultOf, progressOf, isStreaming }: Surroundings): Standing {
  if (block['type'] !== 'toolCall') return { result: undefined };
  const id = textOf(block['id']);
  return { result: resultOf(id), progress: progressOf?.(id) ?? (isStreaming ? 'waiting' : undefined) };
}

interface BlockProps extends Standing {
  readonly block: Fields;
  readonly isGrowing: boolean;
}

/** What has not changed is not drawn again while the answer goes on. */
const Block = ({ block, isGrowing, result, progress }: BlockProps) =>
  useMemo(() => shown({ block, isGrowing, result, progress }), [block, isGrowing, result, progress]);

function shown({ block, isGrowing, result, progress }: BlockProps) {
  const text = textOf(block['text']);
  switch (block['type']) {
    case 'text':
      return text.trim() === '' ? null : <Markdown text={text} isStreaming={isGrowing} />;
    case 'thinking':
      return <Thinking block={block} isGrowing={isGrowing} />;
    case 'toolCall':
      return (
        <ToolCard
          id={textOf(block['id'])}
          name={textOf(block['name'])}
          call={fieldsOf(block['arguments'])}
          result={result && fieldsOf(result)}
          progress={progress}
        />
      );
    default:
      return <Notice text={`A part of an unknown type: ${textOf(block['type']).slice(0, 60)}`} />;
  }
}

function Ending({ message }: { readonly message: Fields }) {
  switch (message['stopReason']) {
    case 'error':
      return (
        <p class="failure">
          <PlainText text={textOf(message['errorMessage']) || 'The model failed'} />
        </p>
      );
    case 'aborted':
      return <p class="note">Stopped</p>;
    case 'length':
      return <p class="note">Cut off: the answer reached its longest length</p>;
    default:
      return null;
  }
}
