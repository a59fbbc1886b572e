import type { QueuedItem } from '../../../../protocol/generated/vocabulary.ts';
import { PlainText } from '../../../code/plain-text.tsx';
import { oneLine } from '../../../words.ts';
import { Icon } from '../../icons.tsx';

/** More of a message is not shown. */
const MAX_WORDS = 300;

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
    <span class="waiting-kind">{isRunning ? turns[kind] : 'with the next run'}</span>{' '}
    <span class="waiting-words">
      <PlainText text={oneLine(text, MAX_WORDS)} />
    </span>
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
