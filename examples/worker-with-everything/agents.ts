import { Agent, sequence, steps, Team, textOf, tool, Workflow } from 'servable'
import { ToolServerManager } from 'servable/mcp-client'

/** The tool servers (MCP) that administrators add while the Worker runs. */
export const toolServers = new ToolServerManager()

export const wordCount = tool({
  name: 'word_count',
  description: 'Counts words',
  parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  execute: args => String(Object(args).text).split(/\s+/).length,
})

export const counter = new Agent({
  name: 'counter',
  description: 'Counts the words of its input',
  tools: [wordCount],
  corrections: true,
  async *run(input, { callTool }) {
    yield `${yield* callTool('word_count', { text: textOf(input) })} words`
  },
})

const upper = new Agent({ name: 'upper', run: input => textOf(input).toUpperCase() })

export const pair = new Team({
  name: 'pair',
  description: 'Counts the words of its input, written in capitals',
  members: [upper, counter],
  strategy: sequence,
})

export const initials = new Workflow({
  name: 'initials',
  description: 'Gives the first letters of the words of its input',
  steps: steps()
    .step('split', input => textOf(input).split(' '))
    .step('join', words => words.map(word => word.charAt(0)).join('')),
})
