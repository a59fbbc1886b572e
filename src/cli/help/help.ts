import { version } from '../../protocol/generated/version.ts';
import { commands } from '../commands.ts';
import { type Flag, flags, UnknownWordError, UsageError } from '../flags/flags.ts';
import { isServerSubcommand } from '../flags/server-flags.ts';
import { printAndExit } from '../stdio.ts';
import { commandPage, commandRows, serverOptions } from './command-pages.ts';
import { flagRow, list, page, section } from './layout.ts';
import { pages } from './pages.ts';
import { type Topic, topics } from './topics.ts';

/** `tau help`: prints the pages of a topic or command, or the first page. */
export async function help([about, extra]: readonly string[]): Promise<number> {
  if (about === undefined) return printAndExit(firstPage());
  if (extra !== undefined) throw new UsageError(`tau help takes one word, not ${JSON.stringify(extra)} too`);
  const found: string[] = [];
  const command = Object.hasOwn(commands, about) ? commands[about] : undefined;
  if (command) found.push(commandPage(about, command));
  if (isServerSubcommand(about)) found.push(serverOptions(about));
  if (Object.hasOwn(topics, about)) found.push(pages[about as Topic]());
  if (found.length > 0) return printAndExit(page(...found));
  const known = [...Object.keys(topics), ...Object.keys(commands)];
  const advice = `: there is ${Object.keys(topics).join(', ')}`;
  throw new UnknownWordError(`No help about ${about}`, { word: about, known, advice });
}

const firstPage = () =>
  page(
    `tau ${version}: a headless coding agent that other programs drive`,
    section(
      'Usage',
      list([
        ['tau', 'Chat with the agent in this terminal'],
        ['tau -p <prompt>... [@file...]', 'Print the answer and exit'],
        ['tau --mode json <prompt>...', 'Print every event as a JSON line'],
        ['tau --mode rpc', 'Read commands and write records as JSON lines'],
        ['tau <command>', 'Run a command of the list below'],
      ]),
    ),
    section('Commands', list(commandRows())),
    section('Common options', list(common().map(([name, flag]) => flagRow(name, flag)))),
    section('Topics: tau help <topic>', list(Object.entries(topics).map(([name, topic]) => [name, topic.about]))),
  );

const common = () => Object.entries<Flag>(flags).filter(([, flag]) => flag.common);
