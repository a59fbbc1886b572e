import { useComputed } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useSession } from '../state/app.ts';
import { Talk } from './talk.tsx';

/** What was said in the session; something else where nothing was. */
export function Conversation({ whenEmpty }: { readonly whenEmpty: ComponentChildren }) {
  const { view, isKnown } = useSession();
  const stage = useComputed(() => {
    const { messages, answer, earlier } = view.value;
    if (messages.length > 0 || answer || earlier) return 'talk';
    return isKnown.value ? 'empty' : 'unknown';
  });
  if (stage.value === 'talk') return <Talk />;
  return <div class="conversation silent">{stage.value === 'empty' ? whenEmpty : <Skeleton />}</div>;
}

const Skeleton = () => (
  <div class="skeleton" role="status" aria-label="Loading the conversation">
    <span />
    <span />
    <span />
  </div>
);
