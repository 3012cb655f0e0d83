/** The contract of the frameworks whose agents take messages while they are at work. */
import { describe, expect, it } from 'vitest'
import type { RunResult } from '../../src/index.ts'
import type { withFramework } from './contract.ts'

/** Tests the agent `steered` of the module `steered.ts` in the framework's folder. */
export function testSteering({ installed }: ReturnType<typeof withFramework>, folder: string): void {
  describe('a message for a run at work', () => {
    it('reaches the model after the tool, once, and stays there over an approval', async () => {
      const served = await installed().serve(`test/frameworks/${folder}/steered.ts`)
      try {
        const ask = async (path: string, body: object) => {
          const headers = { 'content-type': 'application/json', 'x-session': 's' }
          const response = await fetch(`${served.url}/api${path}`, {
            ...{ method: 'POST', headers },
            body: JSON.stringify(body),
          })
          const text = await response.text()
          expect(response.status, text).toBe(200)
          return text
        }
        const input = { input: 'weather in Oslo', sessionId: 's' }
        const first: RunResult = JSON.parse(await ask('/agents/steered/run', input))
        expect(first.finishReason, served.log()).toBe('input_required')
        const users = () => served.model.asked.map(asked => asked.users)
        expect(users()).toEqual([['weather in Oslo'], ['weather in Oslo', 'refund it']])
        const log = await (await fetch(`${served.url}/api/runs/${first.runId}/stream`)).text()
        expect(log.match(/"type":"steered"/g)).toHaveLength(1)

        const [{ id = '' } = {}] = first.requests ?? []
        const answers = [{ id, decision: 'approve' }]
        const last: RunResult = JSON.parse(await ask(`/runs/${first.runId}/answers`, { answers }))
        expect(last.text, served.log()).toBe('The tool said: refunded A')
        expect(users().at(-1)).toEqual(['weather in Oslo', 'refund it'])
      } finally {
        await served.stop()
      }
    })
  })
}
