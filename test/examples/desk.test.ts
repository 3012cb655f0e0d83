import { describe, expect, it } from 'vitest'
import { desk } from '../../examples/agents.ts'
import { run, stream } from './served.ts'

describe('desk', () => {
  it.each([
    ['what is 3*(4+5) - 2^3?', 'calculator'],
    ['1/0', 'calculator'],
    ['Rivers rise. They fell by 5% in 2020.', 'summarizer'],
    ['The years 1990-1995 were dry.', 'summarizer'],
  ])('gives %j to the %s', async (message, member) => {
    const { steps } = await run('teams/desk', message)
    expect(steps).toMatchObject([{ name: member, status: 'completed' }])
  })

  it("gives the member's answer, its tool calls and its usage", async () => {
    const result = await run('teams/desk', 'what is 2 + 2')
    expect(result).toMatchObject({
      text: '2 + 2 = 4',
      toolCalls: [{ toolName: 'calculate', result: 4 }],
      usage: { promptTokens: 4, completionTokens: 3, totalTokens: 7 },
    })
  })

  it("streams the member's events inside its step", async () => {
    const types = (await stream('teams/desk', 'Just a line.')).map(({ type }) => type)
    expect(types).toEqual(['step', 'text', 'step', 'finish'])
  })

  it('runs without a server', async () => {
    expect((await desk.run('1+1')).text).toBe('1+1 = 2')
  })
})
