import { commands } from '../commands.ts';
import { serverSubcommands } from '../flags/server-flags.ts';
import { type CompletedOption, options, restrictedCommands } from './options.ts';

/** Completion for zsh. */
export const zsh = () => `#compdef tau
# Completion of tau for zsh: source <(tau completion zsh)
_tau() {
  local curcontext=$curcontext state line
  typeset -A opt_args
  local -a tau_words tau_options
  case \${words[(r)(${serverSubcommands.join('|')})]} in
${restrictedCommands.map((some) => `    ${some.command}) ${optionArray(some.options)} ;;`).join('\n')}
    *) ${optionArray(options)} ;;
  esac
  _arguments -C $tau_options '1: :->command' '*: :->rest'
  case $state in
    command)
      tau_words=(${described(commands)})
      _describe command tau_words
      ;;
    rest)
      case $line[1] in
${Object.entries(commands)
  .filter(([, { subcommands }]) => subcommands)
  .map(
    ([name, { subcommands = {} }]) => `        ${name})
          tau_words=(${described(subcommands)})
          _describe ${name} tau_words
          ;;`,
  )
  .join('\n')}
        *) _files ;;
      esac
      ;;
  esac
}
compdef _tau tau
`;

const optionArray = (some: readonly CompletedOption[]) =>
  `tau_options=(\n${some.map((option) => `      ${spec(option)}\n`).join('')}    )`;

function spec({ name, short, about, ...option }: CompletedOption): string {
  const description = `[${about.replaceAll(/[[\]\\]/g, '\\$&')}]${valueSpec(option)}`;
  const long = option.takes === 'nothing' ? `--${name}` : `--${name}=`;
  if (!short) return quoted(`${long}${description}`);
  return `${quoted(`(-${short} --${name})`)}{-${short},${long}}${quoted(description)}`;
}

function valueSpec({ takes, value, choices }: Pick<CompletedOption, 'takes' | 'value' | 'choices'>): string {
  if (takes === 'nothing') return '';
  const action = { choice: `(${choices.join(' ')})`, file: '_files', folder: '_files -/', text: ' ' }[takes];
  return `:${value}:${action}`;
}

const described = (some: Readonly<Record<string, { readonly about: string }>>) =>
  Object.entries(some)
    .map(([name, { about }]) => quoted(`${name}:${about}`))
    .join(' ');

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
