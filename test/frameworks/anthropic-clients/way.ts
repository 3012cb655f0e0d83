/** What every client of Anthropic's interface can do, in its own words. */
export interface Way {
  ask(model: string, text: string): Promise<string>
  /** Gives the text, what it thought, and why it ended. */
  stream(
    model: string,
    text: string,
  ): Promise<{ text: string; reasoning: string; tokens: number | undefined }>
  /** Says two texts, and tells all of the first answer with the second. */
  converse(model: string, first: string, second: string): Promise<string>
  /** Runs the tool `paint` as often as the agent calls it. */
  withTool(text: string, paint: (of: string) => string): Promise<string>
  object?(model: string): Promise<unknown>
  /** Leaves after the first piece. */
  leave(text: string): Promise<void>
}
