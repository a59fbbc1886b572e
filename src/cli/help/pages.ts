import { type Flag, flags } from '../flags/flags.ts';
import { commandRows } from './command-pages.ts';
import { environment, exitCodes } from './environment.ts';
import { flagRow, list, page, paragraph, section } from './layout.ts';
import type { Topic } from './topics.ts';

/** The text of each help topic. */
export const pages: Readonly<Record<Topic, () => string>> = {
  modes: () =>
    page(
      paragraph('In a terminal, tau without anything is a conversation. The other modes:'),
      list([
        ['tau -p <prompt>...', 'Runs the prompts one after another in one session and prints the last answer.'],
        ['tau --mode json', 'The same, but prints the header of the session and every event as JSON lines.'],
        ['tau --mode rpc', 'Reads commands and writes records as JSON lines until stdin closes.'],
      ]),
      paragraph(
        'What is piped in stands before the first prompt, and so do the files that are named with an @: texts under ' +
          'their names, images as images. Words after -- are prompts, whatever they begin with.',
      ),
      options('modes'),
      examples("tau -p 'What does this program do?' @src/main.ts", "git diff | tau -p 'Review this.'"),
    ),
  sessions: () =>
    page(
      paragraph(
        'Every conversation is kept as a file that pi can read too, below ~/.pi/agent/sessions, by the folder it was ' +
          'held in. One process at a time may have it open. A session in which nothing was said leaves no file.',
      ),
      options('sessions'),
      examples("tau -p -c 'And now the tests.'", 'tau --session 0199'),
    ),
  models: () =>
    page(
      paragraph(
        'Only the built-in model answers yet: it needs no key and no network, and plays a script when told to. ' +
          'Its models are tau/scripted, tau/scripted-small and tau/scripted-slow.',
      ),
      options('models'),
      examples("tau -p --model tau/scripted:high 'list the files'"),
    ),
  tools: () =>
    page(
      paragraph('The agent acts through tools, with the rights of the user who started it: tau is not a sandbox.'),
      options('tools'),
      examples("tau -p --tools read 'read package.json'"),
    ),
  additions: () =>
    page(
      paragraph(
        'A skill tells how to do one kind of work: a folder with a SKILL.md. The model reads it when it needs it, or you ' +
          'say /skill:name and what is to be done. A prompt template is a prompt in a file, with places for words: ' +
          '/name and the words stand for it.',
      ),
      list([
        ['~/.pi/agent', 'Yours: skills/ and prompts/ in it, and skills in ~/.agents/skills'],
        ['.pi', "The project's: skills/ and prompts/ in it, and skills in .agents/skills"],
      ]),
      options('additions'),
      examples("tau -p '/review src/main.ts'", "tau -p --skill ./pdf-tools '/skill:pdf-tools extract report.pdf'"),
    ),
  rpc: () =>
    page(
      paragraph(
        'Commands come in and records go out, one JSON object per line. Every command gets one response with its id; ' +
          'agent_settled is the one definite end of a run. docs/protocol.md has every command, event and shape.',
      ),
      options('rpc'),
      examples(
        `printf '%s\\n' '{"id":"1","type":"prompt","message":"list the files"}' |`,
        '  tau --mode rpc --no-session',
      ),
    ),
  server: () =>
    page(
      list([
        [
          'tau serve',
          'Lets browsers and programs use sessions here. Prints a link that lets one browser in, and where sockets are.',
        ],
        ['tau attach', 'The chat on a session of a server, over its socket file or a URL.'],
        ['tau token', 'Says who else may come in.'],
      ]),
      paragraph(
        'Every client sends a token, but for the owner over the socket file. The scopes of a token limit what it may do:',
      ),
      list([
        ['view', 'Read what is said and done.'],
        ['prompt', 'Talk to the agent, answer it, open sessions and change them.'],
        ['bash', 'Run commands beside the agent.'],
        ['admin', 'Trust projects and store keys.'],
      ]),
      paragraph(
        'The agent runs commands as you, and so does every token that may prompt. --path limits which sessions and files ' +
          'tau opens for a token, not what commands reach. A revoked token loses its connections at once.',
      ),
      options('server'),
      examples(
        'tau serve --socket ~/.tau.sock',
        'tau attach --socket ~/.tau.sock',
        'tau token create --name phone --scope view,prompt --expires 30d',
        'tau token revoke phone',
      ),
    ),
  commands: () => page(list(commandRows())),
  options: () =>
    page(
      rowsOf((flag) => !flag.ignored),
      section('Taken without effect, for scripts that were written for pi', paragraph(namesOf((flag) => flag.ignored))),
    ),
  environment: () => page(list(Object.entries(environment))),
  'exit-codes': () => page(list(Object.entries(exitCodes))),
};

const options = (topic: Topic) =>
  section(
    'Options',
    rowsOf((flag) => flag.topic === topic),
  );

const examples = (...lines: readonly string[]) => section('Try it', lines.map((line) => `  ${line}\n`).join(''));

type FlagPredicate = (flag: Flag) => boolean | undefined;

const flagsWhere = (predicate: FlagPredicate) => Object.entries<Flag>(flags).filter(([, flag]) => predicate(flag));

const rowsOf = (predicate: FlagPredicate) => list(flagsWhere(predicate).map(([name, flag]) => flagRow(name, flag)));

const namesOf = (predicate: FlagPredicate) =>
  flagsWhere(predicate)
    .map(([name]) => `--${name}`)
    .join(' ');
