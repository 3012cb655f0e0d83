/** What a stock client of tasks gets of the service. */
import { expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import type { Place, Tasks } from '../../frameworks/mcp-clients/way.ts'
import { own } from '../runs/client.ts'
import { openGate, type Server, TOKEN, tell } from './server.ts'

export function taskCases(connect: (place: Place) => Promise<Tasks>, server: Server): void {
  const at = (more: Partial<Place> = {}) => connect({ url: `${server().url}/mcp`, token: TOKEN, ...more })

  it('gets the result of a short call at once, and that of a long one of its task', async () => {
    const tasks = await at()
    expect(await tasks.call('says', { input: 'Ann' })).toMatchObject({
      kind: 'immediate',
      status: 'completed',
      result: { content: [{ text: 'Hello, Ann!' }] },
    })
    const gate = own('gate')
    const states: string[] = []
    const open = async (status: string) => {
      states.push(status)
      await openGate(server, gate)
    }
    expect(await tasks.call('counts', { input: gate }, open)).toMatchObject({
      kind: 'task',
      status: 'completed',
      result: { content: [{ text: expect.stringMatching(/^1 .*and done\.$/) }] },
    })
    expect(states).toContain('working')
    await tasks.close()
  })

  it('is told of what failed in a task', async () => {
    const tasks = await at()
    expect(await tasks.call('refuses_later', { input: 'x' })).toMatchObject({
      kind: 'task',
      status: 'completed',
      result: { isError: true, content: [{ text: 'Internal server error' }] },
    })
    await tasks.close()
  })

  it('cancels a task, which stops the agent', async () => {
    const tasks = await at()
    const text = own('waits')
    const isStarted = () => eventually(async () => expect(await tell(server, text)).toBe('started'))
    expect(await tasks.cancelled('waits', { input: text }, isStarted)).toMatchObject({
      kind: 'task',
      status: 'cancelled',
    })
    await eventually(async () => expect(await tell(server, text)).toBe('stopped'))
    await tasks.close()
  })

  it('answers what a task asks, question after question', async () => {
    const asked: string[] = []
    const say: Place['say'] = ({ message }) => {
      asked.push(message)
      return message.includes('size')
        ? { action: 'accept', content: { size: 'M' } }
        : { action: 'accept', content: { answer: 'red' } }
    }
    const tasks = await at({ say })
    expect(await tasks.call('asks_later', { input: 'a shirt' })).toMatchObject({
      kind: 'task',
      status: 'completed',
      result: { content: [{ text: 'It is red, in M.' }] },
    })
    expect(asked).toEqual(['A shirt. \n\nWhich size?', 'Which color?'])
    await tasks.close()
  })

  it('cancels a task with a question that nobody answers', async () => {
    const tasks = await at({ say: () => ({ action: 'decline' }) })
    expect(await tasks.call('asks_later', { input: 'a shirt' })).toMatchObject({ status: 'cancelled' })
    await tasks.close()
  })

  it('goes on with a task in another session, if it is its own', async () => {
    const gate = own('gate')
    const first = await at()
    const reference = await first.leave('counts', { input: gate })
    // A session that is closed cancels its tasks, even those that it has handed over.
    const [again, ofBob] = [await at(), await at({ token: 'bob' })]
    await expect(ofBob.goOn(reference)).rejects.toThrow(/There is no such task/)
    await openGate(server, gate)
    expect(await again.goOn(reference)).toMatchObject({ status: 'completed' })
    await Promise.all([first.close(), again.close(), ofBob.close()])
  })
}
