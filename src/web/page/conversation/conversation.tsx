import type { ComponentChildren } from 'preact';
import { useSession } from '../state/app.ts';

/** What was said in the session; something else where nothing was. */
export function Conversation({ whenEmpty }: { readonly whenEmpty: ComponentChildren }) {
  const { messages } = useSession().view.value;
  if (messages.length === 0) return <div class="conversation">{whenEmpty}</div>;
  return <div class="conversation">{messages.map(({ role, timestamp }) => `${role} ${timestamp}\n`)}</div>;
}
