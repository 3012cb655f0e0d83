/** An agent of the Claude Agent SDK behind a handler, on Node: `npm install @anthropic-ai/claude-agent-sdk`. */
import process from 'node:process'
import { query } from '@anthropic-ai/claude-agent-sdk'
import { toAgent } from '../src/adapters/frameworks/index.ts'
import { createHandler } from '../src/index.ts'
import { sqliteState } from '../src/runtimes/sqlite.ts'

const coder = toAgent({
  name: 'coder',
  description: 'Reads and changes the files of one folder',
  query,
  // At most so many processes of the SDK at the same time.
  processes: 4,
  options: {
    cwd: process.env.CODER_FOLDER ?? process.cwd(),
    // No settings of this machine.
    settingSources: [],
    // A person is asked about all other tools.
    allowedTools: ['Read', 'Glob', 'Grep'],
    maxTurns: 50,
  },
})

export const handler = createHandler({ serve: [coder], state: sqliteState({ path: 'coder.db' }) })
