import type { QueuedItem } from '../../../../protocol/generated/vocabulary.ts';
import { Icon } from '../../icons.tsx';
import { WaitingWords } from './waiting-words.tsx';

interface QueuedMessageProps {
  readonly item: QueuedItem;
  readonly isRunning: boolean;
  /** Left out for those who may only look. */
  readonly onEdit?: (() => void) | undefined;
  readonly onDrop?: (() => void) | undefined;
}

/** A message that waits, and what can be done with it. */
export const QueuedMessage = ({ item: { kind, text }, isRunning, onEdit, onDrop }: QueuedMessageProps) => (
  <li class="waiting-item">
    <span class="waiting-kind">{isRunning ? turns[kind] : 'with the next run'}</span> <WaitingWords text={text} />
    {onEdit && (
      <button type="button" class="quiet icon-only" aria-label="Edit" title="Edit" onClick={onEdit}>
        <Icon name="rename" />
      </button>
    )}
    {onDrop && (
      <button type="button" class="quiet icon-only" aria-label="Drop" title="Drop" onClick={onDrop}>
        <Icon name="close" />
      </button>
    )}
  </li>
);

/** When each is delivered. */
const turns: Readonly<Record<QueuedItem['kind'], string>> = { steer: 'steers', followUp: 'after this run' };
