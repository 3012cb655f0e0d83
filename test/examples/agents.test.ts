import { describe, expect, it } from 'vitest'
import { calculator, desk, digest, echo, summarizer } from '../../examples/agents.ts'
import { createHandler, defaultRegistry } from '../../src/index.ts'

describe('the example agents', () => {
  it('register themselves when their module is imported', () => {
    const registry = defaultRegistry()
    for (const agent of [calculator, echo, summarizer]) expect(registry.get('agent', agent.name)).toBe(agent)
    expect(registry.get('team', 'desk')).toBe(desk)
    expect(registry.get('workflow', 'digest')).toBe(digest)
  })

  it('are served by a handler that names none', async () => {
    const response = await createHandler()(new Request('http://localhost/api/registry'))
    expect(await response.json()).toEqual({
      agents: expect.arrayContaining(['calculator', 'echo', 'summarizer']),
      teams: ['desk'],
      workflows: ['digest'],
    })
  })
})
