import { type ComponentChildren, toChildArray } from 'preact';
import { PlainText } from '../../code/plain-text.tsx';
import { oneLine } from '../../format.ts';
import { Clipped } from '../clipped.tsx';
import { Folded } from '../folded.tsx';
import { Pictures } from '../pictures.tsx';
import { outcomeOf, outputOf, stateOf, type ToolState, type ToolUse } from './tool-use.ts';

interface CardProps {
  readonly use: ToolUse;
  // A one-line description of the call.
  readonly about?: ComponentChildren;
  // Shown after a success.
  readonly outcome?: string | undefined;
  // Shown after a failure; the output by default.
  readonly problem?: string | undefined;
  // Whether it starts unfolded. A failed call always does.
  readonly startsOpen?: boolean | undefined;
  readonly children?: ComponentChildren;
}

/** The card of a tool call: its description and outcome, with the content below. */
export function Card({ use, about, outcome, problem = outputOf(use), startsOpen = false, children }: CardProps) {
  const state = stateOf(use);
  const isFailed = state === 'failed';
  return (
    <CardFrame
      id={use.id}
      name={use.name}
      about={about}
      state={state}
      outcome={outcomeOf(use, outcome)}
      startsOpen={startsOpen || isFailed}
      after={<Pictures content={use.result?.['content']} />}
    >
      {isFailed && problem !== '' && <Clipped text={problem} lines={20} kind="output problem" />}
      {children}
    </CardFrame>
  );
}

interface CardFrameProps extends Omit<CardProps, 'use' | 'outcome' | 'problem'> {
  /** The call id, by which the card of a result is found. */
  readonly id?: string | undefined;
  readonly name: string;
  readonly state: ToolState;
  readonly outcome: string;
  /** Content that stays visible while the card is folded. */
  readonly after?: ComponentChildren;
}

/** The frame of a card; without children it cannot be unfolded. */
export function CardFrame({ id, name, about, state, outcome, startsOpen, after, children }: CardFrameProps) {
  const head = (
    <span class="tool-head">
      <span class="tool-name">
        <PlainText text={oneLine(name, 80)} />
      </span>
      <span class="tool-about">{about}</span>
      <span class={`outcome ${state === 'running' ? 'working' : ''}`}>{outcome}</span>
    </span>
  );
  return (
    <section class={`tool ${state}`} data-call={id}>
      {toChildArray(children).length > 0 ? (
        <Folded name={name} head={head} startsOpen={startsOpen}>
          {children}
        </Folded>
      ) : (
        head
      )}
      {after}
    </section>
  );
}
