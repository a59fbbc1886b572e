import type { QueuedItem } from '../../../../protocol/generated/vocabulary.ts';
import { PlainText } from '../../../code/plain-text.tsx';
import { oneLine } from '../../../format.ts';
import { Icon } from '../../icons.tsx';

interface QueuedMessageProps {
  readonly item: QueuedItem;
  readonly isRunning: boolean;
  // The reason why it cannot be changed now.
  readonly blockedBy: string | undefined;
  // Missing for logins that may only view.
  readonly onEdit?: (() => void) | undefined;
  readonly onDrop?: (() => void) | undefined;
}

/** A queued message with its buttons. */
export function QueuedMessage({ item: { kind, text }, isRunning, blockedBy, onEdit, onDrop }: QueuedMessageProps) {
  const actions = [
    { name: 'Edit', icon: 'rename', onClick: onEdit },
    { name: 'Drop', icon: 'close', onClick: onDrop },
  ] as const;
  return (
    <li class="waiting-item">
      <span class="waiting-kind">{isRunning ? deliveryTexts[kind] : 'with the next run'}</span>{' '}
      <MessagePreview text={text} />
      {actions.map(
        ({ name, icon, onClick }) =>
          onClick && (
            <button
              key={name}
              type="button"
              class="quiet icon-only"
              aria-label={`${name}: ${oneLine(text, 40)}`}
              title={blockedBy ?? name}
              disabled={blockedBy !== undefined}
              onClick={onClick}
            >
              <Icon name={icon} />
            </button>
          ),
      )}
    </li>
  );
}

// When a message of each kind is delivered.
const deliveryTexts: Readonly<Record<QueuedItem['kind'], string>> = { steer: 'steers', followUp: 'after this run' };

const MAX_PREVIEW_CHARACTERS = 300;

/** The beginning of a pending message. */
export const MessagePreview = ({ text }: { readonly text: string }) => (
  <span class="waiting-text">
    <PlainText text={oneLine(text, MAX_PREVIEW_CHARACTERS)} />
  </span>
);
