// In your own project: your agents. Here those of the other examples, which work offline.
import { createHandler } from 'servable'
import { calculator } from '../../agents/calculator.ts'
import { desk } from '../../agents/desk.ts'
import { digest } from '../../agents/digest.ts'
import { echo } from '../../agents/echo.ts'
import { summarizer } from '../../agents/summarizer.ts'

export const handler = createHandler({
  agents: { calculator, echo, summarizer },
  teams: { desk },
  workflows: { digest },
  fileUpload: true,
  // Everything is below /api, where the catch-all route is.
  a2a: { basePath: '/api/a2a', default: 'echo' },
  gateway: { path: '/api/socket.io' },
})
