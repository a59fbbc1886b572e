const plain = (text: unknown) => String(text ?? '');

/** Colours for terminals, none of which are seen here: every text stays as it is. */
export const plainTheme = {
  name: 'plain',
  fg: (_color: string, text: unknown) => plain(text),
  bg: (_color: string, text: unknown) => plain(text),
  bold: plain,
  dim: plain,
  italic: plain,
  underline: plain,
  inverse: plain,
  strikethrough: plain,
  getFgAnsi: () => '',
  getBgAnsi: () => '',
  getColorMode: () => 'truecolor',
  getThinkingBorderColor: () => plain,
  getBashModeBorderColor: () => plain,
};
