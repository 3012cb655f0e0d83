import { describe, expect, it } from 'vitest'
import { tailor } from '../../examples/agents.ts'
import { talk } from '../agents/talk.ts'

describe('the tailor', () => {
  it('asks for the size, and goes on with it', async () => {
    const asked = await talk(tailor, { input: 'A shirt' })
    expect(asked.text).toBe('Let me see. ')
    expect(asked.requests).toMatchObject([{ kind: 'question', message: 'Which size: S, M or L?' }])
    expect((await asked.say('M')).text).toBe('A shirt in M')
  })

  it('has silk and gold approved', async () => {
    const asked = await talk(tailor, { input: 'A silk tie' })
    const waiting = await asked.say('L')
    const [request] = waiting.requests
    expect(request).toMatchObject({
      kind: 'approval',
      toolName: 'sew',
      args: { item: 'A silk tie', size: 'L' },
    })
    expect((await waiting.say(true)).text).toBe('A silk tie in L')
    const { id = '' } = request ?? {}
    const denied = await waiting.answer({ id, decision: 'deny', reason: 'Too costly' })
    expect(denied.text).toBe('Nothing is sewn. The call was denied: Too costly.')
  })
})
