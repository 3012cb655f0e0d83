/** Stock clients of every version against the plugin, in this process. */
import { describe } from 'vitest'
import { memoryState } from '../../../src/index.ts'
import { answeringCases } from '../../contracts/ai-sdk-ui/answering.ts'
import { CLIENTS, inProcess } from '../../contracts/ai-sdk-ui/clients.ts'
import { leavingCases, resumingCases } from '../../contracts/ai-sdk-ui/leaving.ts'
import { handlerOn } from '../../contracts/ai-sdk-ui/service.ts'
import { askingCases } from '../../contracts/ai-sdk-ui.ts'

describe.each(CLIENTS)('a chat of AI SDK $version', client => {
  const serve = (settings: string) => {
    const service = inProcess(handlerOn(memoryState(), settings, { logger: false }))
    return () => service
  }

  describe('whose runs end with it', () => {
    const server = serve('leave')
    answeringCases(client, server)
    askingCases(client, server)
    leavingCases(client, server)
  })

  describe('that resumes', () => {
    const server = serve('resume')
    answeringCases(client, server)
    askingCases(client, server)
    resumingCases(client, server)
  })
})
