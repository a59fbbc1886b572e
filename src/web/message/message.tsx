import type { ComponentChildren, JSX } from 'preact';
import { useErrorBoundary } from 'preact/hooks';
import type { RunningTool } from '../../client/view/view.ts';
import { entryOf, type Fields, fieldsOf, textOf } from '../fields.ts';
import { Answer } from './answer.tsx';
import { ShellCommand } from './shell-command.tsx';
import { BranchSummary, CompactionSummary } from './summaries.tsx';
import { ToolCard } from './tools/tool-card.tsx';
import { Unknown } from './unknown.tsx';
import { CustomWords, UserWords } from './user-words.tsx';

/** What belongs to a message beside its own words. */
export interface Surroundings {
  /** The result of a tool call, as a message; undefined while there is none. */
  readonly resultOf: (callId: string) => object | undefined;
  /** A call that is under way: `waiting` for its turn, or running with what it has printed so far; undefined for one that is over. */
  readonly progressOf?: ((callId: string) => 'waiting' | RunningTool | undefined) | undefined;
  /** Whether the message is still being written. */
  readonly isStreaming?: boolean | undefined;
}

interface MessageProps {
  /** A message of any role; it may be of another program, and hold anything. */
  readonly message: object;
  readonly around: Surroundings;
  /** What can be done with it, at its foot. */
  readonly children?: ComponentChildren;
}

/** A message in the form that is known of its role. */
export interface ViewProps {
  readonly message: Fields;
  readonly around: Surroundings;
  readonly children?: ComponentChildren;
}

const views: Readonly<Record<string, (props: ViewProps) => JSX.Element | null>> = {
  user: UserWords,
  assistant: Answer,
  toolResult: ({ message }) => (
    <ToolCard id={textOf(message['toolCallId'])} name={textOf(message['toolName'])} call={{}} result={message} />
  ),
  bashExecution: ShellCommand,
  custom: CustomWords,
  branchSummary: BranchSummary,
  compactionSummary: CompactionSummary,
};

/**
 * What a message says: words, thoughts, tools and pictures. Who says it, and when, is for whoever shows it.
 *
 * One that cannot be understood is shown as it is stored.
 */
export function Message({ message, around, children }: MessageProps) {
  const [problem] = useErrorBoundary();
  const fields = fieldsOf(message);
  const role = textOf(fields['role']);
  const View = entryOf(views, role);
  if (!View || problem !== undefined) return <Unknown title={role || 'A message of no role'} value={message} />;
  return (
    <View message={fields} around={around}>
      {children}
    </View>
  );
}
