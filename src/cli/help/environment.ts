/** The environment variables of the help page. */
export const environment = {
  PI_CODING_AGENT_DIR: 'Folder of settings and sessions; ~/.pi/agent unless set',
  PI_CODING_AGENT_SESSION_DIR: 'Folder of sessions, unless --session-dir is given',
  PI_AUTH_TOKEN:
    'With tau serve: a token that may do everything; with tau attach: the one to show; no child inherits it',
  TAU_LOG: 'How much is logged, unless --log-level is given',
  NO_COLOR: 'Set: tau chat uses no colours',
  TERM: 'dumb: tau chat takes each line of stdin as a prompt',
} as const;

/** The exit codes of the help page. */
export const exitCodes = {
  '0': 'All went well, or the reader of the output has closed it',
  '1': 'The agent or the server could not be opened or reached, or a prompt failed, was stopped or was cut short',
  '2': 'Wrong use of the command line; nothing was done',
  '129, 130, 143': 'Ended by SIGHUP, SIGINT, SIGTERM; everything is stored',
} as const;
