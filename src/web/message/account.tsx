import type { ComponentChildren } from 'preact';
import { CopyButton } from '../code/copy-button.tsx';
import { PlainText } from '../code/plain-text.tsx';
import { type Fields, numberOf, textOf, wordsOf } from '../fields.ts';
import { usageOf } from '../usage.ts';
import { dollars, duration, tokens } from '../words.ts';

interface AccountProps {
  readonly message: Fields;
  /** What else can be done with the answer. */
  readonly children?: ComponentChildren;
}

/** What an answer took, and what can be done with it. */
export function Account({ message, children }: AccountProps) {
  const { input, output, cached, cost } = usageOf(message['usage']);
  const time = numberOf(message['durationMs']);
  const words = wordsOf(message['content']);
  const parts = [
    textOf(message['model']).slice(0, 80),
    input + output + cached > 0 && `${tokens(input + cached)} in`,
    cached > 0 && `${tokens(cached)} of it cached`,
    output > 0 && `${tokens(output)} out`,
    cost > 0 && dollars(cost),
    time > 0 && duration(time),
  ];
  return (
    <footer class={`foot-line ${message['stopReason'] === 'toolUse' ? 'passing' : ''}`}>
      <span class="account">
        <PlainText text={parts.filter(Boolean).join(' · ')} />
      </span>
      <span class="message-actions">
        {words.trim() !== '' && <CopyButton text={() => words} />}
        {children}
      </span>
    </footer>
  );
}
