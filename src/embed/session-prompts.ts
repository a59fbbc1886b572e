import { submit } from '../engine/commands/prompting.ts';
import { Refusal } from '../protocol/errors.ts';
import type { Accepted, ContentBlock, ImageContent } from '../protocol/generated/vocabulary.ts';
import type { InjectedMessage, InjectionOptions } from '../session/input/injected-messages.ts';
import type { RawInput } from '../session/hooks.ts';
import type { Run } from '../session/run/run.ts';
import type { EmbedContext } from './context.ts';

export interface PromptOptions {
  readonly images?: ImageContent[] | undefined;
  /** What becomes of the message while a run is active; without it, it is refused then. */
  readonly streamingBehavior?: 'steer' | 'followUp' | undefined;
  /** False: commands, skills and templates are taken as plain words. */
  readonly expandPromptTemplates?: boolean | undefined;
  readonly source?: RawInput['source'] | undefined;
  /** Told as soon as it is known what becomes of the message. */
  readonly preflightResult?: ((disposition: Accepted['disposition']) => void) | undefined;
}

/** Says something; settles when the run that it begins is over. One that joins a run waits for nothing. */
export async function prompt(context: EmbedContext, message: string, options: PromptOptions = {}): Promise<void> {
  const { images, streamingBehavior, expandPromptTemplates: expand, source = 'interactive' } = options;
  let run: Run | undefined;
  const params = { message, images, streamingBehavior };
  const { disposition } = await context.perform('prompt', params as { message: string }, async (command, context) => {
    const accepted = await submit(command, { source, expand }, context);
    run = context.agent.session.run;
    return accepted;
  });
  options.preflightResult?.(disposition);
  if (disposition === 'started') await context.runSettled(run);
}

export interface SendUserMessageOptions {
  readonly deliverAs?: 'steer' | 'followUp' | undefined;
  readonly expandPromptTemplates?: boolean | undefined;
}

/** The same in blocks, in which nothing stands for anything else unless that is asked for. */
export function sendUserMessage(
  context: EmbedContext,
  content: string | ContentBlock[],
  { deliverAs, expandPromptTemplates = false }: SendUserMessageOptions = {},
): Promise<void> {
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  const text = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  const images = blocks.filter((block): block is ImageContent => block.type === 'image');
  return prompt(context, text, { images, streamingBehavior: deliverAs, expandPromptTemplates, source: 'extension' });
}

/** Says something beside the user. */
export async function sendCustomMessage(context: EmbedContext, message: InjectedMessage, options: InjectionOptions = {}): Promise<void> {
  checkCustomMessage(message);
  const { agent } = context;
  context.begin();
  const deliver = () => {
    const { accepted, begin } = agent.session.inject(message, options);
    const run = accepted.disposition === 'started' ? agent.session.run : undefined;
    begin?.();
    return run;
  };
  const run = options.triggerTurn && !agent.session.run ? await agent.lane.run(deliver) : deliver();
  if (run) await context.runSettled(run);
}

function checkCustomMessage({ customType, content }: InjectedMessage): void {
  if (typeof customType === 'string' && (typeof content === 'string' || Array.isArray(content))) return;
  throw new Refusal('invalid_params', 'A custom message needs a customType, and content that is text or blocks');
}
