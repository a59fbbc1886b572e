import { useComputed } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { useSession } from '../state/app.ts';
import { MessageList } from './message-list.tsx';

/** What was said in the session; something else where nothing was. */
export function Conversation({ whenEmpty }: { readonly whenEmpty: ComponentChildren }) {
  const { view, isLoaded: isKnown } = useSession();
  const hadMessages = useRef(false);
  const stage = useComputed(() => {
    const { messages, streamingMessage: answer, earlier } = view.value;
    // What was said first may be asked again: it is gone for a moment.
    hadMessages.current ||= messages.length > 0 || answer !== undefined || earlier !== undefined;
    if (hadMessages.current) return 'talk';
    return isKnown.value ? 'empty' : 'unknown';
  });
  if (stage.value === 'talk') return <MessageList />;
  return <div class="conversation silent">{stage.value === 'empty' ? whenEmpty : <Skeleton />}</div>;
}

const Skeleton = () => (
  <div class="skeleton" role="status" aria-label="Loading the conversation">
    <span />
    <span />
    <span />
  </div>
);
