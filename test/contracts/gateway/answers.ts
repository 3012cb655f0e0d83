/** Runs that wait for someone, and answers to them. */
import { expect, it, onTestFinished } from 'vitest'
import type { InputRequest, RunRecord } from '../../../src/index.ts'
import { eventually } from '../../eventually.ts'
import { notesOf } from '../http/client.ts'
import { as, own } from '../runs/client.ts'
import { type Client, clientOf, connected, ended, play, type Server, stock, textOf } from './client.ts'

/** Starts a run that ends with requests. */
async function startWaiting(client: Client, name: string, input: string) {
  const events = await play(client, 'agent.run', { name, input })
  const last = events.at(-1)?.data as unknown
  const { runId, finishReason, requests } = last as {
    runId: string
    finishReason: string
    requests: readonly InputRequest[]
  }
  expect(finishReason).toBe('input_required')
  expect(requests.every(({ id }) => id.startsWith(`${runId}/`))).toBe(true)
  return { runId, requests, text: textOf(events) }
}

/** Answers, and gives the ack. */
async function answer(client: Client, runId: string, ...answers: readonly object[]) {
  return (await client.ask('run.answers', { runId, answers })) as {
    runId?: string
    requests?: readonly InputRequest[]
    code?: string
  }
}

/** What tools did with an order. */
async function doneWith(server: Server, order: string): Promise<readonly string[]> {
  return (await notesOf(server)).filter(note => note.startsWith(order))
}

async function recordOf(server: Server, runId: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${server().url}/api/runs/${runId}`, { headers })
  return (await response.json()) as RunRecord
}

/** `open` makes a client that is connected. */
export function answerCases(server: Server, open: () => Promise<Client>): void {
  it('tells what a run waits for, and tells the run that goes on as any other', async () => {
    const client = await open()
    const order = own('order')
    const { runId, requests, text } = await startWaiting(client, 'refunds', order)
    expect(text).toBe('Looking. ')
    expect(requests).toMatchObject([{ kind: 'approval', toolName: 'refund', args: { order, amount: 5 } }])
    const [{ id }] = requests as [InputRequest]
    const ack = await answer(client, runId, { id, decision: 'approve', editedArgs: { order, amount: 3 } })
    expect(ack).toEqual({ runId: expect.not.stringContaining(runId) })
    const events = await ended(client, ack.runId!)
    expect(events.at(-1)).toMatchObject({
      event: 'agent.done',
      data: { output: { text: 'Done: refunded 3.' }, finishReason: 'stop' },
    })
    expect(await doneWith(server, order)).toEqual([`${order} refunded 3`])
    expect(await recordOf(server, runId)).toMatchObject({ continuedBy: ack.runId })
    expect(await recordOf(server, ack.runId!)).toMatchObject({ continuedFrom: runId, status: 'completed' })
  })

  it('says what is left until the last request is answered, and starts one run however often that is said', async () => {
    const client = await open()
    const order = own('order')
    const { runId, requests } = await startWaiting(client, 'orders', order)
    const [approval, size] = requests as [InputRequest, InputRequest]
    const first = [runId, { id: size.id, value: 'M' }] as const
    const left = { runId, requests: [approval] }
    expect(await answer(client, ...first)).toEqual(left)
    expect(await answer(client, ...first)).toEqual(left)
    const last = [runId, { id: approval.id, decision: 'approve' }] as const
    const acks = await Promise.all([answer(client, ...last), answer(client, ...last)])
    const [ack] = acks
    expect(acks).toEqual([{ runId: expect.any(String) }, ack])
    const done = () =>
      client.got.find(({ event, data }) => event === 'agent.done' && data.runId === ack?.runId)?.data
    await eventually(() => expect(done()).toBeDefined())
    expect(done()).toMatchObject({
      finishReason: 'input_required',
      requests: [{ message: 'Which colour?' }],
    })
    expect(await doneWith(server, order)).toEqual([`${order} refunded 5`])
  })

  it('refuses answers that do not fit, and lets go of their places', async () => {
    const client = await open()
    const { runId, requests } = await startWaiting(client, 'sizes', 'shirt')
    const [{ id }] = requests as [InputRequest]
    const wrong: readonly [payload: unknown, code: string][] = [
      [{ runId, answers: [] }, 'invalid_body'],
      [{ answers: [{ id, value: 'M' }] }, 'invalid_body'],
      [{ runId, answers: [{ id, decision: 'approve' }] }, 'invalid_body'],
      [{ runId, answers: [{ id, value: 7 }] }, 'invalid_body'],
      [{ runId, answers: [{ id: `${runId}/else`, value: 'M' }] }, 'request_not_found'],
      [{ runId, answers: [{ id, value: 'M', digest: 'another' }] }, 'request_changed'],
      [{ runId: crypto.randomUUID(), answers: [{ id, value: 'M' }] }, 'run_not_found'],
    ]
    for (const [payload, code] of [...wrong, ...wrong, ...wrong]) {
      expect(await client.ask('run.answers', payload)).toMatchObject({ code })
    }
    const { runId: next = '' } = await answer(client, runId, { id, value: 'M' })
    expect(textOf(await ended(client, next))).toBe('shirt in M')
    expect(await answer(client, runId, { id, value: 'L' })).toMatchObject({ code: 'already_answered' })
  })
}

/** Clients that may come back. */
export function answerRecoveryCases(server: Server): void {
  it('finds the run that goes on when it comes back, and its requests', async () => {
    const user = own('ann')
    const socket = stock(server, { transports: ['websocket'], extraHeaders: as(user) })
    const client = clientOf(socket)
    await connected(socket)
    const { runId, requests } = await startWaiting(client, 'orders', own('order'))
    const [approval, size] = requests as [InputRequest, InputRequest]
    await answer(client, runId, { id: size.id, value: 'M' })
    socket.io.reconnection(false)
    const gone = new Promise(resolve => socket.once('disconnect', resolve))
    await answer(client, runId, { id: approval.id, decision: 'deny' })
    socket.io.engine.close()
    await gone
    const back = connected(socket)
    socket.connect()
    await back
    const { continuedBy = '' } = await recordOf(server, runId, as(user))
    await eventually(async () => {
      expect((await recordOf(server, continuedBy, as(user))).status).not.toBe('running')
    })
    expect((await ended(client, continuedBy)).at(-1)?.event).toBe('agent.error')
    const again = await answer(client, runId, { id: approval.id, decision: 'deny' })
    expect(again).toEqual({ runId: continuedBy })
  })

  it('gives nobody what another one waits for', async () => {
    const socket = stock(server, { transports: ['websocket'], extraHeaders: as(own('ann')) })
    const other = stock(server, { transports: ['websocket'], extraHeaders: as(own('bob')) })
    onTestFinished(() => void other.disconnect())
    const [client, thief] = [clientOf(socket), clientOf(other)]
    await Promise.all([connected(socket), connected(other)])
    const { runId, requests } = await startWaiting(client, 'sizes', 'shirt')
    const given = [{ id: requests[0]?.id, value: 'M' }]
    expect(await answer(thief, runId, ...given)).toMatchObject({ code: 'run_not_found' })
    const { runId: next = '' } = await answer(client, runId, ...given)
    expect(textOf(await ended(client, next))).toBe('shirt in M')
  })
}
