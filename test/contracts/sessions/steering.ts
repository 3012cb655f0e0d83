import { expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { accept, as, ask, own, post, type Server } from '../runs/client.ts'

/** Messages for the run at work of a session. */
export function steeringCases(server: Server): void {
  it('sends a message to the run at work, once', async () => {
    const user = own('ann')
    const ann = as(user)
    const gate = own('gate')
    const sessionId = own('session')
    const { id } = await accept(server, 'agents/steered', { input: `waits ${gate}`, sessionId }, ann)
    const path = '/api/agents/steered/run'
    const second = { input: 'second', sessionId, concurrency: 'steer' }
    const record = async (which: string) =>
      JSON.parse((await ask(server, `/api/runs/${which}`, { headers: ann })).text)
    const answer = await eventually(async () => {
      // The run begins soon after its record.
      const shown = JSON.parse(
        (await ask(server, `/api/agents/steered/sessions/${sessionId}/messages`, { headers: ann })).text,
      )
      expect(shown.turns).toHaveLength(1)
      return shown
    }).then(() => post(server, path, second, ann))
    expect(answer.status, answer.text).toBe(202)
    const { next, ...shown } = JSON.parse(answer.text)
    expect(shown).toEqual({ id, steered: true, messageId: next, position: 1 })
    await ask(server, `/probe?gate=${gate}`)
    const ended = (which: string) =>
      eventually(async () => {
        const found = await record(which)
        expect(found.status).toBe('completed')
        return found.result
      })
    expect((await ended(id)).text).toBe(`waits ${gate}, second`)
    expect(await ended(next)).toMatchObject({ steeredInto: id, text: '' })
    const { text } = await ask(server, `/api/runs/${id}/stream`, { headers: ann })
    expect(text.match(/"type":"steered"/g)).toHaveLength(1)
    const { turns } = JSON.parse(
      (await ask(server, `/api/agents/steered/sessions/${sessionId}/messages`, { headers: ann })).text,
    )
    expect(turns).toMatchObject([{ runId: id, steered: [{ runId: next, userId: user, input: 'second' }] }])
  })
}
