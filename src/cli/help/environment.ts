/** The environment variables of the help page. */
export const environment = {
  PI_CODING_AGENT_DIR: 'Folder of settings and sessions (default ~/.pi/agent)',
  PI_CODING_AGENT_SESSION_DIR: 'Folder of sessions, unless --session-dir is given',
  PI_AUTH_TOKEN: 'With tau serve: a token with every scope; with tau attach: the token to send; no child inherits it',
  PI_OAUTH_CALLBACK_HOST: 'Address on which tau login waits for the browser (default 127.0.0.1)',
  KIMI_CODE_OAUTH_HOST: 'Another host for the sign-in of Kimi',
  TAU_LOG: 'Lowest level to log, unless --log-level is given',
  NO_COLOR: 'Set: tau chat uses no colours',
  TERM: 'dumb: tau chat takes each line of stdin as a prompt',
} as const;

/** The exit codes of the help page. */
export const exitCodes = {
  '0': 'Success, or the reader closed the output',
  '1': 'The agent or server could not be opened or reached, or a prompt failed, was aborted or was cut short',
  '2': 'Invalid command line; nothing was done',
  '129, 130, 143': 'Ended by SIGHUP, SIGINT, SIGTERM; everything is stored',
} as const;
