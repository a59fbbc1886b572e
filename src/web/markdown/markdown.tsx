interface MarkdownProps {
  readonly text: string;
  /** Whether more is to come: what is whole already is not read again. */
  readonly isStreaming?: boolean | undefined;
}

/** A text of markdown. Nothing in it becomes markup by itself. */
export const Markdown = ({ text }: MarkdownProps) => <div class="markdown">{text}</div>;
