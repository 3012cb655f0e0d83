/** The runner of CopilotKit's runtime, in a stand-in for that runtime, over the handler of a service. */
import { HttpAgent } from '@ag-ui/client'
import { describe, expect, it } from 'vitest'
import { type Handler, memoryState } from '../../../src/index.ts'
import { eventually } from '../../eventually.ts'
import { last, ORIGIN, Runtime, says, serviceWith } from './runtime.ts'

describe('a page of CopilotKit', () => {
  it('has the whole answer once, after a reload in the middle too', async () => {
    const { handler, go, left } = serviceWith()
    const runtime = new Runtime(handler)
    const first = runtime.run('t', 'hi')
    await says(first, 'hi: one ')
    first.leave()
    // The runtime was restarted meanwhile.
    const second = new Runtime(handler).connect('t')
    await says(second, 'hi: one ')
    await go('hi')
    await second.ended
    expect(second.text()).toBe('hi: one two.')
    expect([last(second)?.type, left]).toEqual(['RUN_FINISHED', []])
    const third = runtime.connect('t')
    await third.ended
    expect(third.text()).toBe('hi: one two.')
  })

  it('gets nothing of an unknown thread, of somebody else, or of an agent that keeps none', async () => {
    const { handler, go } = serviceWith()
    const runtime = new Runtime(handler)
    const own = runtime.run('t', 'hi')
    await go('hi')
    await own.ended
    Object.assign(runtime.agents, { stock: new HttpAgent({ url: `${ORIGIN}/api/agents/talks/ag-ui` }) })
    for (const other of [
      runtime.connect('unknown'),
      runtime.connect('t', { who: 'bob' }),
      runtime.connect('t', { agentId: 'stock' }),
      runtime.connect('t', { agentId: 'constructor' }),
    ]) {
      await other.ended
      expect(other.events).toEqual([])
    }
  })

  it('may send a second message to a busy thread, which the service lets wait', async () => {
    const { handler, go } = serviceWith()
    const runtime = new Runtime(handler)
    const first = runtime.run('t', 'a')
    await says(first, 'a: one ')
    const second = runtime.run('t', 'b')
    await go('a')
    await first.ended
    await go('b')
    await second.ended
    expect([first.text(), second.text()]).toEqual(['a: one two.', 'b: one two.'])
  })

  it('may steer the run at work', async () => {
    const { handler, go } = serviceWith()
    const runtime = new Runtime(handler)
    const first = runtime.run('t', 'a', { agentId: 'notes' })
    await says(first, 'a: ')
    const second = runtime.run('t', 'b', { agentId: 'notes', steers: true })
    await says(second, 'a: ')
    await go('a')
    await Promise.all([first.ended, second.ended])
    expect([first.text(), second.text()]).toEqual(['a: noted b.', 'a: noted b.'])
    // The other page is told the message, with the id that its own page gave it.
    expect(first.events).toContainEqual(expect.objectContaining({ role: 'user', messageId: 'm-b' }))
  })

  it('is told why there is no run', async () => {
    const { handler } = serviceWith({ state: memoryState(), limits: { maxBodyBytes: 2000 } })
    const runtime = new Runtime(handler)
    const gone = runtime.run('t', 'hi', { agentId: 'gone' })
    await gone.ended
    expect(gone.events).toEqual([
      { type: 'RUN_ERROR', code: 'agent_not_found', message: 'There is no agent named `gone`' },
    ])
    const attached = runtime.connect('t', { agentId: 'gone' })
    await attached.ended
    expect(last(attached)).toMatchObject({ code: 'agent_not_found' })
    expect(await runtime.runner.stop({ threadId: 't' })).toBe(false)
  })

  it('has what the middleware of the runtime makes of the events', async () => {
    const { handler } = serviceWith()
    const runtime = new Runtime(handler)
    const seen: string[] = []
    runtime.agents.quick?.use((input, next) => {
      seen.push(input.threadId)
      return next.run(input)
    })
    const one = runtime.run('t', 'hi', { agentId: 'quick' })
    await one.ended
    expect([one.text(), seen]).toEqual(['You said hi', ['t']])
  })
})

describe('stop', () => {
  it('ends the run of the page, and no other', async () => {
    const { handler, left } = serviceWith()
    const runtime = new Runtime(handler)
    const { runner } = runtime
    const [one, other] = [runtime.run('t', 'a'), runtime.run('other', 'c')]
    await Promise.all([says(one, 'a: one '), says(other, 'c: one ')])
    const waits = runtime.run('t', 'b')
    expect(await runner.stop({ threadId: 't', runId: 'run-a' })).toBe(true)
    await one.ended
    expect(last(one)?.type).toBe('RUN_FINISHED')
    // The message that waited has its turn.
    await says(waits, 'b: one ')
    expect(left).toEqual(['a'])
    expect(await runner.stop({ threadId: 't', runId: 'run-a' })).toBe(false)
    expect(await runner.stop({ threadId: 't', runId: 'run-b' })).toBe(true)
    await waits.ended
    expect(left).toEqual(['a', 'b'])
    expect(await runner.stop({ threadId: 'other' })).toBe(true)
    await other.ended
  })

  it('ends a message that waits in the line', async () => {
    const { handler, go, waiting } = serviceWith()
    const runtime = new Runtime(handler)
    const one = runtime.run('t', 'a')
    await says(one, 'a: one ')
    const waits = runtime.run('t', 'b')
    await eventually(async () => expect(await atWork(handler, 't')).toBe(2))
    expect(await runtime.runner.stop({ threadId: 't', runId: 'run-b' })).toBe(true)
    await waits.ended
    await go('a')
    await one.ended
    expect(one.text()).toBe('a: one two.')
    expect(waiting.has('b')).toBe(false)
  })

  it('ends what was begun elsewhere, once a page has attached', async () => {
    const { handler, left } = serviceWith()
    const elsewhere = new Runtime(handler).run('t', 'a')
    await says(elsewhere, 'a: one ')
    const runtime = new Runtime(handler)
    expect(await runtime.runner.stop({ threadId: 't' })).toBe(false)
    expect(await runtime.runner.isRunning({ threadId: 't' })).toBe(false)
    const page = runtime.connect('t')
    await says(page, 'a: one ')
    // Nobody else changes in whose name it is stopped.
    await runtime.connect('t', { who: 'bob' }).ended
    expect(await runtime.runner.isRunning({ threadId: 't' })).toBe(true)
    expect(await runtime.runner.stop({ threadId: 't' })).toBe(true)
    await Promise.all([page.ended, elsewhere.ended])
    expect(left).toEqual(['a'])
    expect(await runtime.runner.isRunning({ threadId: 't' })).toBe(false)
    expect(await runtime.runner.stop({ threadId: 't' })).toBe(false)
  })

  it('ends a run that nothing stores, by leaving it', async () => {
    const { handler, left } = serviceWith({})
    const runtime = new Runtime(handler)
    const one = runtime.run('t', 'a')
    await says(one, 'a: one ')
    expect(await runtime.runner.isRunning({ threadId: 't' })).toBe(true)
    expect(await runtime.runner.stop({ threadId: 't', runId: 'run-a' })).toBe(true)
    await one.ended
    await eventually(() => expect(left).toEqual(['a']))
    expect(await runtime.runner.isRunning({ threadId: 't' })).toBe(false)
  })

  it('knows the newest threads', async () => {
    const { handler } = serviceWith()
    const runtime = new Runtime(handler, { maxThreads: 2 })
    const reads = ['a', 'b', 'c'].map(name => runtime.run(`of-${name}`, name))
    await Promise.all(reads.map((each, at) => says(each, `${'abc'[at]}: one `)))
    const stopped = (name: string) => runtime.runner.stop({ threadId: `of-${name}` })
    expect([await stopped('a'), await stopped('b'), await stopped('c')]).toEqual([false, true, true])
    for (const each of reads) each.leave()
  })

  it('keeps no id that the service refuses', async () => {
    const { handler } = serviceWith()
    const runtime = new Runtime(handler)
    const long = 't'.repeat(501)
    const one = runtime.run(long, 'a')
    await one.ended
    expect(last(one)).toMatchObject({ type: 'RUN_ERROR', code: 'invalid_body' })
    expect(await runtime.runner.stop({ threadId: long })).toBe(false)
  })
})

async function atWork(handler: Handler, sessionId: string): Promise<number> {
  const url = `${ORIGIN}/api/runs?sessionId=${sessionId}&status=running`
  const { runs } = await (await handler(new Request(url, { headers: { 'x-test-user': 'ann' } }))).json()
  return runs.length
}
