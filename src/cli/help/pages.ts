import { type Flag, flags } from '../flags/flags.ts';
import { commandRows } from './command-pages.ts';
import { environment, exitCodes } from './environment.ts';
import { flagRow, list, page, paragraph, section } from './layout.ts';
import type { Topic } from './topics.ts';

/** The text of each help topic. */
export const pages: Readonly<Record<Topic, () => string>> = {
  modes: () =>
    page(
      paragraph('In a terminal, tau without arguments starts a chat. The other modes:'),
      list([
        ['tau -p <prompt>...', 'Runs the prompts one after another in one session and prints the last answer.'],
        ['tau --mode json', 'Does the same and prints the session header and every event as JSON lines.'],
        ['tau --mode rpc', 'Reads commands and writes records as JSON lines until stdin closes.'],
      ]),
      paragraph(
        'Piped input and files named with @ are placed before the first prompt: text under its file name, images as ' +
          'images. Words after -- are always prompts.',
      ),
      options('modes'),
      examples("tau -p 'What does this program do?' @src/main.ts", "git diff | tau -p 'Review this.'"),
    ),
  sessions: () =>
    page(
      paragraph(
        'Each session is one file below ~/.pi/agent/sessions, grouped by working folder, in the format of pi. One ' +
          'process at a time can open it. A session without messages leaves no file.',
      ),
      options('sessions'),
      examples("tau -p -c 'And now the tests.'", 'tau --session 0199'),
    ),
  models: () =>
    page(
      paragraph(
        'tau uses the models of Anthropic, OpenAI, Google and compatible servers: set a key such as ANTHROPIC_API_KEY, or ' +
          'use the auth.json and models.json of pi. Without a key it uses the built-in model tau/scripted, which needs ' +
          'no network and plays scripts.',
      ),
      options('models'),
      examples('tau --list-models opus', "tau -p --model opus:high 'Why do the tests fail?'"),
    ),
  tools: () =>
    page(
      paragraph(
        'Tools run with the rights of the user who started tau, unless a mode of approvals or a sandbox limits them: ' +
          'docs/approvals.md. tau chat, tau attach and the page request the mode auto for the sessions that they create; ' +
          'programs get full.',
      ),
      options('tools'),
      examples(
        "tau -p --tools read 'read package.json'",
        "tau -p --approvals auto --sandbox required 'Run the tests.'",
      ),
    ),
  extensions: () =>
    page(
      paragraph(
        'An extension is a TypeScript or JavaScript file that adds tools, commands and hooks. A skill is a folder with a ' +
          'SKILL.md that describes one kind of work: the model reads it on demand, or you start it with /skill:name. ' +
          'A prompt template is a prompt in a file with placeholders: /name and its arguments expand to it.',
      ),
      list([
        ['~/.pi/agent', 'Yours: extensions/, skills/ and prompts/; also skills in ~/.agents/skills'],
        ['.pi', "The project's: extensions/, skills/ and prompts/; also skills in .agents/skills"],
      ]),
      options('extensions'),
      examples("tau -p '/review src/main.ts'", "tau -p --skill ./pdf-tools '/skill:pdf-tools extract report.pdf'"),
    ),
  rpc: () =>
    page(
      paragraph(
        'tau reads commands and writes records, one JSON object per line. Every command gets one response with its id; ' +
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
          'Serves sessions to browsers and programs. Prints a link that logs one browser in, and its addresses.',
        ],
        [
          'tau attach',
          'Opens the chat on a session of a server, over its socket file or a URL. Several URLs, separated by commas, ' +
            'lead to nodes of one cluster: when one is lost, the chat continues through the next.',
        ],
        ['tau token', 'Creates, lists and revokes the tokens of other clients.'],
      ]),
      paragraph('Every client sends a token, except the owner over the socket file. A token has scopes:'),
      list([
        ['view', 'Read sessions.'],
        ['prompt', 'Send prompts, answer dialogs, open and change sessions.'],
        ['bash', 'Run commands beside the agent.'],
        ['admin', 'Trust projects and store keys.'],
      ]),
      paragraph(
        'The agent runs commands as you, and so does every token that may prompt. --path limits which sessions and files ' +
          'tau opens for a token, not what commands reach. --limit is the loosest approval mode of its runs. ' +
          'A revoked token loses its connections at once.',
      ),
      options('server'),
      examples(
        'tau serve --socket ~/.tau.sock',
        'tau attach --socket ~/.tau.sock',
        'tau attach ws://a:4170,ws://b:4170 --continue',
        'tau token create --name phone --scope view,prompt --expires 30d',
        'tau token revoke phone',
        'tau token create --name phone --cluster nats://a,nats://b',
      ),
    ),
  commands: () => page(list(commandRows())),
  options: () =>
    page(
      rowsOf((flag) => !flag.ignored),
      section('Accepted without effect, for scripts written for pi', paragraph(namesOf((flag) => flag.ignored))),
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
