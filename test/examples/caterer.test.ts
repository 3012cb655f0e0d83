import { describe, expect, it } from 'vitest'
import { caterer } from '../../examples/agents.ts'
import { talk } from '../agents/talk.ts'

describe('the caterer', () => {
  it('lists what is needed in whole packs, and orders it once it may', async () => {
    const asked = await talk(caterer, { input: 'A dinner for 12 guests' })
    expect(asked.text).toContain('## Dinner for 12')
    expect(asked.text).toContain('| Potatoes | 3.6 kg | 2 | € 6.40 |')
    expect(asked.text).toContain('That makes **€ 36.73**.')
    const packs = { Potatoes: 2, Leeks: 4, Bread: 3, Apples: 3 }
    expect(asked.requests).toMatchObject([
      { kind: 'approval', toolName: 'order', args: { packs, total: '€ 36.73' } },
    ])
    expect((await asked.say(true)).text).toBe('**Ordered:** 4 items for € 36.73.')
  })

  it('orders nothing that is denied', async () => {
    const { requests, answer } = await talk(caterer, { input: 'Dinner' })
    const denied = await answer({ id: requests[0]?.id ?? '', decision: 'deny', reason: 'Too much' })
    expect(denied.text).toBe('*Nothing is ordered.* The call was denied: Too much.')
  })
})
