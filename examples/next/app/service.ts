// In your own project import your agents. This example uses those of the other examples, which work offline.
import { Agent, createHandler, textOf } from 'servable'
import { aiSdkUi } from 'servable/ai-sdk-ui'
import { approvals } from 'servable/approvals'
import { files } from 'servable/files'
import { queue } from 'servable/queue'
import { sessions } from 'servable/sessions'
import { sqliteState } from 'servable/sqlite'
import { calculator } from '../../agents/calculator.ts'
import { caterer } from '../../agents/caterer.ts'
import { desk } from '../../agents/desk.ts'
import { digest } from '../../agents/digest.ts'
import { echo } from '../../agents/echo.ts'
import { summarizer } from '../../agents/summarizer.ts'
import { tailor } from '../../agents/tailor.ts'
import { visitors } from './visitors.ts'

/** Repeats the input at typing speed, and gives its files back. */
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
    const parts = typeof input === 'string' ? [] : input.filter(({ type }) => type !== 'text')
    for (const [place, part] of parts.entries()) {
      yield { type: 'artifact', artifactId: `file-${place + 1}`, parts: [part] }
    }
  },
})

export const handler = createHandler({
  agents: { typist, caterer, tailor, calculator, echo, summarizer },
  teams: { desk },
  workflows: { digest },
  fileUpload: true,
  // Files of messages are in their JSON.
  limits: { maxBodyBytes: 20 * 1024 * 1024 },
  state: sqliteState({ path: process.env.DATABASE ?? 'chat.db' }),
  middleware: [visitors],
  plugins: [aiSdkUi({ resume: true }), sessions(), approvals(), queue(), files()],
  // Every path is below /api, where the catch-all route is.
  a2a: { basePath: '/api/a2a', default: 'echo' },
  gateway: { path: '/api/socket.io' },
})
