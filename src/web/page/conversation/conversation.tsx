import { useComputed } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { useSession } from '../state/app.ts';
import { MessageList } from './message-list.tsx';

/** The messages of the session, or `whenEmpty` in an empty one. */
export function Conversation({ whenEmpty }: { readonly whenEmpty: ComponentChildren }) {
  const { view, isLoaded: isKnown } = useSession();
  const hadMessages = useRef(false);
  const stage = useComputed(() => {
    const { messages, streamingMessage: answer, earlier } = view.value;
    // A retry removes the first message for a moment.
    hadMessages.current ||= messages.length > 0 || answer !== undefined || earlier !== undefined;
    if (hadMessages.current) return 'messages';
    return isKnown.value ? 'empty' : 'unknown';
  });
  if (stage.value === 'messages') return <MessageList />;
  return <div class="conversation empty">{stage.value === 'empty' ? whenEmpty : <Skeleton />}</div>;
}

const Skeleton = () => (
  <div class="skeleton" role="status" aria-label="Loading the conversation">
    <span />
    <span />
    <span />
  </div>
);
