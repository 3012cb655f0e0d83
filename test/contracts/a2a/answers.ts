/** Tasks whose agents make requests, and the messages that answer them. */
import { describe, expect, it } from 'vitest'
import type { InputRequest } from '../../../src/index.ts'
import {
  as,
  cancel,
  expectError,
  getTask,
  type Json,
  notesOf,
  openSend,
  own,
  type SeenTask,
  type Server,
  send,
  sendForTask,
  subscribe,
  TONGUES,
  type Tongue,
  type Tongues,
  tongues,
} from './client.ts'

/** The data parts of a message, without what a wire puts around them. */
function dataIn(parts: readonly Json[] = []): Json[] {
  return parts.flatMap(({ data }) => {
    const inner = (data as { data?: unknown } | undefined)?.data ?? data
    return inner === undefined ? [] : [inner as Json]
  })
}

/** What a task waits for, by its status. */
function requestsOf({ state, says, id }: SeenTask): readonly InputRequest[] {
  expect(state).toBe('input-required')
  expect(says).toMatchObject({ role: 'agent', taskId: id })
  const [asked] = dataIn(says?.parts)
  return asked?.requests as readonly InputRequest[]
}

const answering = (tongue: Tongue, ...answers: readonly unknown[]) => ({
  parts: [tongue.dialect.data({ answers })],
})

async function doneWith(server: Server, order: string): Promise<readonly string[]> {
  return (await notesOf(server)).filter(note => note.startsWith(order))
}

export function answerCases(server: Server, spoken: Tongues = tongues): void {
  describe.each(spoken)('a task that asks: %s', (_, tongue) => {
    const answer = (taskId: string, ...answers: readonly unknown[]) =>
      sendForTask(server, tongue, { taskId, ...answering(tongue, ...answers) })

    it('says what it asks as text and as data, and goes on with the answer', async () => {
      const order = own('order')
      const asked = await sendForTask(server, tongue, { agent: 'refunds', text: order })
      const requests = requestsOf(asked)
      expect(requests).toMatchObject([{ kind: 'approval', toolName: 'refund', args: { order, amount: 5 } }])
      expect(asked.says?.text).toBe(`Approve \`refund\`: {"order":"${order}","amount":5}`)
      expect(await getTask(server, tongue, asked.id)).toEqual(asked)
      const [{ id = '' } = {}] = requests
      const editedArgs = { order, amount: 3 }
      const done = await answer(asked.id, { id, decision: 'approve', editedArgs })
      expect(done).toMatchObject({ id: asked.id, contextId: asked.contextId, state: 'completed' })
      expect(done.artifacts.map(({ text }) => text)).toEqual(['Looking. ', 'Done: refunded 3.'])
      expect(done.history?.map(({ role }) => role)).toEqual(['user', 'agent', 'user'])
      expect(await doneWith(server, order)).toEqual([`${order} refunded 3`])
    })

    it('never takes text for an approval, and says again what waits', async () => {
      const order = own('order')
      const asked = await sendForTask(server, tongue, { agent: 'refunds', text: order })
      for (const text of ['approve', 'yes', '{"answers":[{"decision":"approve"}]}']) {
        const still = await sendForTask(server, tongue, { taskId: asked.id, text })
        expect(requestsOf(still)).toEqual(requestsOf(asked))
      }
      const [told, ...more] = await (
        await openSend(server, tongue, { taskId: asked.id, text: 'go on' })
      ).rest()
      expect(requestsOf(told!.task!)).toEqual(requestsOf(asked))
      expect(more).toEqual([])
      expect(await doneWith(server, order)).toEqual([])
      const [{ id = '' } = {}] = requestsOf(asked)
      const denied = await answer(asked.id, { id, decision: 'deny', reason: 'too much' })
      expect(denied).toMatchObject({ state: 'completed', artifacts: [{}, { text: 'Not done.' }] })
      expect(await doneWith(server, order)).toEqual([])
    })

    it('takes text as the answer to its only question, and goes on to wait for the rest', async () => {
      const order = own('order')
      const asked = await sendForTask(server, tongue, { agent: 'orders', text: order })
      const [approval, size] = requestsOf(asked) as [InputRequest, InputRequest]
      const sized = await sendForTask(server, tongue, { taskId: asked.id, text: 'yes' })
      expect(requestsOf(sized)).toEqual([approval])
      expect(sized.says?.text).not.toContain('Which size?')
      expect(await doneWith(server, order)).toEqual([])
      const coloured = await answer(asked.id, {
        id: approval.id,
        decision: 'approve',
        digest: approval.digest,
      })
      const [color] = requestsOf(coloured) as [InputRequest]
      expect(color).toMatchObject({ kind: 'question', message: 'Which colour?' })
      expect([approval, size, color].map(({ id }) => id.split('/')[0]).filter(isNew)).toHaveLength(2)
      const done = await sendForTask(server, tongue, { taskId: asked.id, text: 'red' })
      expect(done).toMatchObject({ state: 'completed' })
      expect(done.artifacts.at(-1)?.text).toBe('refunded 5, yes, red')
      expect(await doneWith(server, order)).toEqual([`${order} refunded 5`])
    })

    it('refuses answers that do not fit as invalid parameters, and stays as it was', async () => {
      const asked = await sendForTask(server, tongue, { agent: 'orders', text: own('order') })
      const [approval, size] = requestsOf(asked) as [InputRequest, InputRequest]
      const wrong: readonly (readonly unknown[])[] = [
        [],
        ['yes'],
        [{ id: size.id }],
        [{ id: size.id, value: 'M', decision: 'approve' }],
        [{ id: size.id, decision: 'approve' }],
        [{ id: `${size.id}x`, value: 'M' }],
        [{ id: size.id, value: 'M', digest: 'another' }],
        [{ id: approval.id, decision: 'maybe' }],
        [{ id: approval.id, decision: 'approve', args: { amount: 1000 } }],
        [{ id: approval.id, decision: 'approve', editedArgs: { amount: 1000 } }],
        [{ id: approval.id, decision: 'approve', editedArgs: { order: 'x', amount: 'ninety' } }],
        [
          { id: size.id, value: 'M' },
          { id: size.id, value: 'L' },
        ],
        [
          { id: size.id, value: 'M' },
          { id: approval.id, decision: 'maybe' },
        ],
      ]
      for (const answers of wrong) {
        const heard = await send(server, tongue, { taskId: asked.id, ...answering(tongue, ...answers) })
        expectError(tongue, heard, 'invalidParams')
      }
      expect(await getTask(server, tongue, asked.id)).toEqual(asked)
      await answer(asked.id, { id: size.id, value: 'M' })
      const other = answering(tongue, { id: size.id, value: 'L' })
      expectError(tongue, await send(server, tongue, { taskId: asked.id, ...other }), 'invalidParams')
    })

    it('tells those who follow it what it waits for, and goes on for them', async () => {
      const asked = await sendForTask(server, tongue, { agent: 'orders', text: own('order') })
      const [approval, size] = requestsOf(asked) as [InputRequest, InputRequest]
      const follower = await subscribe(server, tongue, asked.id)
      expect((await follower.next())?.task?.state).toBe('input-required')
      await answer(asked.id, { id: size.id, value: 'M' })
      await follower.until(({ state }) => state === 'input-required')
      const approved = answering(tongue, { id: approval.id, decision: 'approve' })
      const events = await (await openSend(server, tongue, { taskId: asked.id, ...approved })).rest()
      expect(events.at(-1)).toMatchObject({ kind: 'status', state: 'input-required' })
      await sendForTask(server, tongue, { taskId: asked.id, text: 'blue' })
      const rest = await follower.rest()
      expect(rest.at(-1)).toMatchObject({ kind: 'status', state: 'completed' })
    })

    it('is cancelled while it waits, and takes no answer then', async () => {
      const asked = await sendForTask(server, tongue, { agent: 'sizes', text: 'shirt' })
      const [{ id = '' } = {}] = requestsOf(asked)
      await cancel(server, tongue, asked.id)
      const heard = await send(server, tongue, {
        taskId: asked.id,
        ...answering(tongue, { id, value: 'M' }),
      })
      expectError(tongue, heard, 'unsupportedOperation')
    })
  })

  it('starts one run, however many answer at once', async () => {
    const order = own('order')
    const { rest1 } = TONGUES
    const asked = await sendForTask(server, rest1, { agent: 'refunds', text: order })
    const [{ id = '' } = {}] = requestsOf(asked)
    const approved = answering(rest1, { id, decision: 'approve' })
    const heard = await Promise.all(
      Array.from({ length: 20 }, () => send(server, rest1, { taskId: asked.id, ...approved })),
    )
    expect(heard.filter(({ error }) => error === undefined)).toHaveLength(1)
    expect((await getTask(server, rest1, asked.id)).state).toBe('completed')
    expect(await doneWith(server, order)).toEqual([`${order} refunded 5`])
  })

  it('takes answers from its owner alone', async () => {
    const { rpc1 } = TONGUES
    const [ann, bob] = [as(own('ann')), as(own('bob'))]
    const asked = await sendForTask(server, rpc1, { agent: 'sizes', text: 'shirt', headers: ann })
    const [{ id = '' } = {}] = requestsOf(asked)
    const given = { taskId: asked.id, ...answering(rpc1, { id, value: 'M' }) }
    expectError(rpc1, await send(server, rpc1, { ...given, headers: bob }), 'taskNotFound')
    const done = await sendForTask(server, rpc1, { ...given, headers: ann })
    expect(done.artifacts[0]?.text).toBe('shirt in M')
  })
}

/** With room for two at work, and for two messages of a task. */
export function answerBoundCases(server: Server): void {
  it('gives back the place that a message takes which does not answer all', async () => {
    const { rest1 } = TONGUES
    const headers = as(own('ann'))
    for (let count = 0; count < 2; count++) {
      const { id } = await sendForTask(server, rest1, { agent: 'refunds', text: own('order'), headers })
      requestsOf(await sendForTask(server, rest1, { taskId: id, text: 'please', headers }))
      const more = await send(server, rest1, { taskId: id, text: 'please', headers })
      expectError(rest1, more, 'unsupportedOperation')
    }
    const other = await sendForTask(server, rest1, { agent: 'echo', text: 'hi', headers })
    expect(other.state).toBe('completed')
  })
}

const isNew = (id: string | undefined, index: number, all: readonly (string | undefined)[]) =>
  all.indexOf(id) === index
