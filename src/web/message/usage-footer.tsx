import type { ComponentChildren } from 'preact';
import { CopyButton } from '../code/copy-button.tsx';
import { PlainText } from '../code/plain-text.tsx';
import { formatDollars, formatDuration, formatTokens } from '../format.ts';
import { asNumber, asText, contentText, type Untyped } from '../untyped.ts';
import { readUsage } from '../usage.ts';

interface UsageFooterProps {
  readonly message: Untyped;
  readonly children?: ComponentChildren;
}

/** The footer of an assistant message: model, tokens, cost, time and actions. */
export function UsageFooter({ message, children }: UsageFooterProps) {
  const { input, output, cached, cost } = readUsage(message['usage']);
  const time = asNumber(message['durationMs']);
  const text = contentText(message['content']);
  const parts = [
    asText(message['model']).slice(0, 80),
    input + output + cached > 0 && `${formatTokens(input + cached)} in`,
    cached > 0 && `${formatTokens(cached)} of it cached`,
    output > 0 && `${formatTokens(output)} out`,
    cost > 0 && formatDollars(cost),
    time > 0 && formatDuration(time),
  ];
  return (
    <footer class={`foot-line ${message['stopReason'] === 'toolUse' ? 'interim' : ''}`}>
      <span class="usage-line">
        <PlainText text={parts.filter(Boolean).join(' · ')} />
      </span>
      <span class="message-actions">
        {text.trim() !== '' && <CopyButton text={() => text} />}
        {children}
      </span>
    </footer>
  );
}
