import { describe, expect, it } from 'vitest'
import { Agent, createHandler, parallel, Team, textOf, Workflow } from '../../src/index.ts'

const json =
  (handler: (r: Request) => Promise<Response>) =>
  async (path: string, body: unknown, headers = {}) => {
    const response = await handler(
      new Request(`http://localhost/api/${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...headers },
      }),
    )
    return {
      status: response.status,
      id: response.headers.get('x-run-id'),
      body: (await response.json()) as any,
    }
  }

describe('smoke', () => {
  it('approves', async () => {
    const calls: unknown[] = []
    const agent = new Agent({
      name: 'a',
      register: false,
      tools: [
        {
          name: 'look',
          execute: (args: unknown) => {
            calls.push(['look', args])
            return 'seen'
          },
        },
        {
          name: 'refund',
          needsApproval: true,
          editable: true,
          execute: (args: unknown) => {
            calls.push(['refund', args])
            return 'paid'
          },
        },
      ],
      async *run(input, context) {
        yield 'Looking. '
        const seen = yield* context.callTool('look', { input })
        yield `It is ${seen}. `
        const paid = yield* context.callTool('refund', { amount: 5 })
        yield `It is ${paid}. `
        const size = yield* context.ask('size', { message: 'Which?', schema: { type: 'string' } })
        yield `Size ${size}.`
      },
    })
    const ask = json(createHandler({ agents: { a: agent } }))
    const first = await ask('agents/a/run', { input: 'hi' })
    expect(first.body).toMatchObject({ text: 'Looking. It is seen. ', finishReason: 'input_required' })
    console.log(JSON.stringify(first.body.requests))
    const id = first.body.requests[0].id
    const second = await ask(`runs/${first.id}/answers`, {
      answers: [{ id, decision: 'approve', editedArgs: { amount: 3 } }],
    })
    console.log(second.status, JSON.stringify(second.body))
    const third = await ask(`runs/${second.id}/answers`, {
      answers: [{ id: second.body.requests[0].id, value: 'XL' }],
    })
    console.log(third.status, JSON.stringify(third.body))
    expect(calls).toEqual([
      ['look', { input: 'hi' }],
      ['refund', { amount: 3 }],
    ])
    expect(third.body.text).toBe('Size XL.')
    const again = await ask(`runs/${second.id}/answers`, {
      answers: [{ id: second.body.requests[0].id, value: 'XL' }],
    })
    expect(again.id).toBe(third.id)
    const other = await ask(`runs/${second.id}/answers`, {
      answers: [{ id: second.body.requests[0].id, value: 'S' }],
    })
    expect(other.body.code).toBe('already_answered')
  })

  it('waits in a team and a workflow', async () => {
    const member = (name: string) =>
      new Agent({
        name,
        register: false,
        async *run(_, { ask }) {
          yield `${name} asks. `
          const a = yield* ask('ok')
          yield `${name}: ${a}. `
        },
      })
    const team = new Team({
      name: 't',
      register: false,
      members: [member('x'), member('y')],
      strategy: parallel,
    })
    const flow = new Workflow({
      name: 'w',
      register: false,
      async *run(input, context) {
        const one = yield* context.step('one', () => `${textOf(input)}!`)
        const [a, b] = yield* context.parallel([context.call(member('p'), 'q'), context.step('two', () => 2)])
        return `${one} ${(a as { text: string }).text} ${b}`
      },
    })
    const ask = json(createHandler({ teams: { t: team }, workflows: { w: flow } }))
    const first = await ask('teams/t/run', { input: 'hi' })
    console.log(JSON.stringify(first.body))
    const part = await ask(`runs/${first.id}/answers`, {
      answers: [{ id: first.body.requests[0].id, value: 1 }],
    })
    console.log(JSON.stringify(part.body))
    const done = await ask(`runs/${first.id}/answers`, {
      answers: [{ id: first.body.requests[1].id, value: 2 }],
    })
    console.log(JSON.stringify(done.body))
    const w1 = await ask('workflows/w/run', { input: 'hi' })
    console.log(JSON.stringify(w1.body))
    const w2 = await ask(`runs/${w1.id}/answers`, { answers: [{ id: w1.body.requests[0].id, value: 2 }] })
    console.log(JSON.stringify(w2.body))
  })
})
