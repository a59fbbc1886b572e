import type { ComponentChildren, JSX } from 'preact';
import { useErrorBoundary } from 'preact/hooks';
import { asObject, asText, ownProperty, type Untyped } from '../untyped.ts';
import { AssistantMessageView } from './assistant-message.tsx';
import { ShellCommandView } from './shell-command.tsx';
import { BranchSummary, CompactionSummary } from './summaries.tsx';
import { ToolCard } from './tools/tool-card.tsx';
import type { CallProgress } from './tools/tool-use.ts';
import { UnknownContent } from './unknown-content.tsx';
import { CustomMessageView, UserMessageView } from './user-message.tsx';

// Data that a message needs beside its own content.
export interface MessageContext {
  // The result message of a tool call; undefined before it arrives.
  readonly resultOf: (callId: string) => object | undefined;
  // The progress of a call; undefined for a finished one.
  readonly progressOf?: ((callId: string) => CallProgress | undefined) | undefined;
  readonly isStreaming?: boolean | undefined;
}

interface MessageProps {
  // A message of any role, possibly from another program and malformed.
  readonly message: object;
  readonly context: MessageContext;
  readonly children?: ComponentChildren;
}

export interface ViewProps {
  readonly message: Untyped;
  readonly context: MessageContext;
  readonly children?: ComponentChildren;
}

const views: Readonly<Record<string, (props: ViewProps) => JSX.Element | null>> = {
  user: UserMessageView,
  assistant: AssistantMessageView,
  toolResult: ({ message }) => (
    <ToolCard id={asText(message['toolCallId'])} name={asText(message['toolName'])} call={{}} result={message} />
  ),
  bashExecution: ShellCommandView,
  custom: CustomMessageView,
  branchSummary: BranchSummary,
  compactionSummary: CompactionSummary,
};

/** Shows a message of any role without its author and time. A message that cannot be rendered is shown as JSON. */
export function Message({ message, context, children }: MessageProps) {
  const [problem] = useErrorBoundary();
  const fields = asObject(message);
  const role = asText(fields['role']);
  const View = ownProperty(views, role);
  if (!View || problem !== undefined) return <UnknownContent title={role || 'A message of no role'} value={message} />;
  return (
    <View message={fields} context={context}>
      {children}
    </View>
  );
}
