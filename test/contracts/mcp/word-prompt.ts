import type { mcpPrompts } from '../../../src/protocols/mcp/plugin.ts'

/** A prompt with an argument that is completed. */
export const define: NonNullable<Parameters<typeof mcpPrompts>[0]>[string] = {
  arguments: {
    word: {
      required: true,
      complete: value => ['lamp', 'oil'].filter(each => each.startsWith(value)),
    },
  },
  get: ({ arguments: { word } }) => `What is ${word}?`,
}
