import { type ComponentChildren, toChildArray } from 'preact';
import { PlainText } from '../../code/plain-text.tsx';
import { oneLine } from '../../words.ts';
import { Clipped } from '../clipped.tsx';
import { Folded } from '../folded.tsx';
import { Pictures } from '../pictures.tsx';
import { outcomeOf, saidBy, stateOf, type ToolState, type ToolUse } from './tool-use.ts';

interface CardProps {
  readonly use: ToolUse;
  /** What the call is about, in a line. */
  readonly about?: ComponentChildren;
  /** A word on how it went, if all went well. */
  readonly outcome?: string | undefined;
  /** Why it failed, if it did; what the tool said unless given. */
  readonly problem?: string | undefined;
  /** Whether its content is worth being seen unasked. What failed always is. */
  readonly matters?: boolean | undefined;
  readonly children?: ComponentChildren;
}

/** A card for a tool call: a line of what was asked and how it went, and what came of it below. */
export function Card({ use, about, outcome, problem = saidBy(use), matters = false, children }: CardProps) {
  const state = stateOf(use);
  const isFailed = state === 'failed';
  return (
    <CardFrame
      id={use.id}
      name={use.name}
      about={about}
      state={state}
      outcome={outcomeOf(use, outcome)}
      matters={matters || isFailed}
      after={<Pictures content={use.result?.['content']} />}
    >
      {isFailed && problem !== '' && <Clipped text={problem} lines={20} kind="output problem" />}
      {children}
    </CardFrame>
  );
}

interface CardFrameProps extends Omit<CardProps, 'use' | 'outcome' | 'problem'> {
  /** Of the call: whoever looks for its result finds the card by it. */
  readonly id?: string | undefined;
  readonly name: string;
  readonly state: ToolState;
  readonly outcome: string;
  /** What is seen even when the card is folded. */
  readonly after?: ComponentChildren;
}

/** The look of a card. Without content there is nothing to unfold. */
export function CardFrame({ id, name, about, state, outcome, matters, after, children }: CardFrameProps) {
  const head = (
    <span class="tool-head">
      <span class="tool-name">
        <PlainText text={oneLine(name, 80)} />
      </span>
      <span class="tool-about">{about}</span>
      <span class={`outcome ${state === 'running' ? 'at-work' : ''}`}>{outcome}</span>
    </span>
  );
  return (
    <section class={`tool ${state}`} data-call={id}>
      {toChildArray(children).length > 0 ? (
        <Folded name={name} head={head} matters={matters}>
          {children}
        </Folded>
      ) : (
        head
      )}
      {after}
    </section>
  );
}
