/** The exit codes of the help page. */
export const exitCodes = {
  '0': 'All went well, or whoever read the output has left',
  '1': 'The agent or the server could not be opened or reached, or a prompt failed, was stopped or was cut short',
  '2': 'Wrong use of the command line; nothing was done',
  '129, 130, 143': 'Ended by SIGHUP, SIGINT, SIGTERM; everything is stored',
} as const;
