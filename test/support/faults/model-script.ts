import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { userExtension } from '../agent/extensions.ts';
import { type Home, newHome, scriptArgs, writeSettings } from '../agent/test-agent.ts';

/** Kinds of rounds, by the work of the agent. */
export const ROUND_KINDS = ['text', 'tools', 'queue', 'dialog', 'compaction'] as const;
export type RoundKind = (typeof ROUND_KINDS)[number];

// A tool that opens two dialogs and shows status and widget meanwhile.
const ASK_TOOL = `
import { Type } from 'typebox';
export default (pi) => {
  pi.registerTool({
    name: 'ask', label: 'Ask', description: 'Asks the user', parameters: Type.Object({}),
    async execute(id, params, signal, onUpdate, ctx) {
      ctx.ui.setStatus('asking', 'Two questions');
      ctx.ui.setWidget('questions', ['Which one?', 'How many?']);
      const which = await ctx.ui.select('Which one?', ['this', 'that'], { signal });
      ctx.ui.notify('The first answer is ' + which);
      ctx.ui.setStatus('asking', 'One question');
      const many = await ctx.ui.input('How many?', undefined, { signal });
      ctx.ui.setStatus('asking', undefined);
      return { content: [{ type: 'text', text: which + ' ' + many }], details: {} };
    },
  });
};`;

/** Script of the model: every response waits at a gate in its middle, where faults are injected. */
export class ModelScript {
  readonly home: Home = newHome();
  readonly agentArgs: readonly string[];
  readonly #gate = join(this.home.root, 'gate');

  constructor(rounds: number) {
    writeSettings(this.home, { compaction: { keepRecentTokens: 50 } });
    userExtension(this.home, 'asking.ts', ASK_TOOL);
    const lines = Array.from({ length: rounds }, (_, round) => this.#roundLines(round)).flat();
    this.agentArgs = scriptArgs(this.home, [...lines, this.#fallbackLine()]);
  }

  openGate(): void {
    writeFileSync(this.#gate, '');
  }

  closeGate(): void {
    rmSync(this.#gate, { force: true });
  }

  #roundLines(round: number): object[] {
    const when = (kind: RoundKind) => `^${round} ${kind}`;
    const slowly = (text: string) => ({ text, chunks: 30, delayMs: 3 });
    const wait = `until [ -e '${this.#gate}' ]; do sleep 0.02; done`;
    const noisy = `for i in 1 2 3 4 5 6 7 8; do echo "line $i of act ${round}"; sleep 0.03; done; ${wait}; echo done`;
    const call = (name: string, args: object) => ({ toolCall: { name, arguments: args } });
    const textSteps = [
      { thinking: 'What is to be said here, and in how many words?', chunks: 10, delayMs: 3 },
      slowly(`Act ${round} begins with a sentence that is long enough to be cut anywhere. `),
      { await: this.#gate },
      slowly('And it ends with another one, which is not much shorter than that.'),
    ];
    return [
      { when: when('text'), steps: textSteps },
      { when: when('queue'), steps: textSteps },
      {
        when: when('tools'),
        steps: [
          slowly('I need two tools for this.'),
          call('bash', { command: noisy }),
          call('write', { path: `note-${round}.txt`, content: 'a note' }),
        ],
      },
      { when: when('dialog'), steps: [slowly('I have to ask.'), call('ask', {})] },
      { when: `^${round} `, keep: true, steps: [slowly('That was it, '), { await: this.#gate }, slowly('I think.')] },
    ];
  }

  /** Responds to everything else, such as a summary. */
  #fallbackLine(): object {
    return {
      when: '.',
      keep: true,
      steps: [{ text: 'Much was said ', chunks: 5, delayMs: 3 }, { await: this.#gate }, { text: 'by everybody.' }],
    };
  }
}
