import { connect, delivered } from '../../../client/testing/agent.ts';
import { TerminalDialogs } from '../dialogs.ts';
import { Printer, plainInk } from '../printer.ts';

/** The record of a dialog. */
export const dialog = (id: string, method: string, more: object = {}) => ({
  type: 'extension_ui_request',
  id,
  method,
  title: `Well, ${id}?`,
  ...more,
});

/** A chat whose agent and keyboard are played by the test. */
export function inChat({ width = Infinity } = {}) {
  const agent = connect();
  const { client, sent } = agent;
  let printed = '';
  let clearedInputs = 0;
  const printer = new Printer(
    {
      get atLineStart() {
        return printed === '' || printed.endsWith('\n');
      },
      width,
      print: (text) => {
        printed += text;
      },
    },
    plainInk,
  );
  const dialogs = new TerminalDialogs(printer, () => {
    clearedInputs++;
  });
  client.onUiRequest((request, { signal }) => dialogs.show(request, signal));
  const emit = async (...records: object[]) => {
    agent.emit(...records);
    await delivered();
  };
  const type = async (...lines: string[]) => {
    for (const line of lines) dialogs.handleLine(line);
    await delivered();
  };
  const answers = () => sent.map(({ type: _type, id: _id, ...answer }) => answer);
  return {
    client,
    printer,
    dialogs,
    emit,
    type,
    delivered,
    sent,
    answers,
    printed: () => printed,
    clearedInputs: () => clearedInputs,
  };
}
