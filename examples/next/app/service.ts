// In your own project import your agents. This example uses those of the other examples, which work offline.
import { Agent, createHandler, textOf } from 'servable'
import { sessions } from 'servable/sessions'
import { sqliteState } from 'servable/sqlite'
import { calculator } from '../../agents/calculator.ts'
import { desk } from '../../agents/desk.ts'
import { digest } from '../../agents/digest.ts'
import { echo } from '../../agents/echo.ts'
import { summarizer } from '../../agents/summarizer.ts'

/** Repeats the input at typing speed. */
const typist = new Agent({
  name: 'typist',
  description: 'Says it back, word by word, with a pause after each',
  // If the server stops in the middle of an answer, the next one goes on.
  resume: true,
  async *run(input, { signal }) {
    for (const word of textOf(input).split(/(?<= )/)) {
      if (signal.aborted) return
      yield word
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  },
})

export const handler = createHandler({
  agents: { typist, calculator, echo, summarizer },
  teams: { desk },
  workflows: { digest },
  fileUpload: true,
  state: sqliteState({ path: process.env.DATABASE ?? 'chat.db' }),
  plugins: [sessions()],
  // Every path is below /api, where the catch-all route is.
  a2a: { basePath: '/api/a2a', default: 'echo' },
  gateway: { path: '/api/socket.io' },
})
