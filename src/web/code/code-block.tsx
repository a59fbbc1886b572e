interface CodeProps {
  readonly text: string;
  /** As it was named: `ts`, `python`, the ending of a file. */
  readonly language: string;
}

/** Code in its colours, in lines of its own, to be copied. */
export const CodeBlock = ({ text }: CodeProps) => (
  <pre>
    <code>{text}</code>
  </pre>
);

/** Code in its colours, as a part of something else. */
export const Highlighted = ({ text }: CodeProps) => <>{text}</>;
