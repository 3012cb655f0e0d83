/** Decisions of others of what A2A tasks ask. */
import { expect, it } from 'vitest'
import type { InputRequest } from '../../../src/index.ts'
import { eventually } from '../../eventually.ts'
import { expectProblem, jsonRequest } from '../http/client.ts'
import { ask } from '../runs/client.ts'
import { type Asked, as, decide, inbox, own, post, type Server } from './client.ts'

interface SentTask {
  readonly id: string
  readonly contextId: string
  readonly status: { readonly state: string; readonly message?: { readonly parts: readonly Part[] } }
  readonly artifacts?: readonly { readonly parts: readonly Part[] }[]
}
interface Part {
  readonly text?: string
  readonly data?: { readonly requests?: readonly InputRequest[]; readonly goesOn?: boolean }
}
interface Sent {
  readonly result?: { readonly task?: SentTask; readonly message?: { readonly parts: readonly Part[] } }
  readonly error?: { readonly code: number; readonly message: string }
}

async function rpc<T>(server: Server, body: object, headers: Readonly<Record<string, string>>): Promise<T> {
  const init = jsonRequest(body, { ...headers, 'a2a-version': '1.0' })
  return (await (await fetch(server().url, init)).json()) as T
}

/** Sends a message over A2A 1.0. */
async function send(
  server: Server,
  who: string,
  message: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Sent> {
  const params = { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', ...message } }
  const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params }
  return rpc(server, body, { ...as(who), ...headers })
}

const get = async (server: Server, who: string, id: string) => (await getTask(server, who, id)).result!

/** Asks for a task as somebody. */
export function getTask(server: Server, who: string, id: string) {
  const body = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id } }
  return rpc<{ result?: SentTask; error?: Sent['error'] }>(server, body, as(who))
}

/** Starts a task that waits. */
export async function askedTask(
  server: Server,
  ann: string = own('ann'),
  headers?: Readonly<Record<string, string>>,
  more: object = {},
): Promise<Asked> {
  const { result } = await send(server, ann, { parts: [{ text: '5' }], ...more }, headers)
  const task = result?.task
  expect(task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
  const requests = task?.status.message?.parts.find(({ data }) => data?.requests)?.data?.requests ?? []
  return { id: task?.id ?? '', requests, ann }
}

/** Approves what a task asks. */
export function approveTask(
  server: Server,
  { id, requests }: Asked,
  who: string,
  headers?: Readonly<Record<string, string>>,
): Promise<Sent> {
  const answers = [{ id: requests[0]?.id, decision: 'approve' }]
  return send(server, who, { taskId: id, parts: [{ data: { answers } }] }, headers)
}

const textOf = ({ artifacts = [] }: SentTask) =>
  artifacts.flatMap(({ parts }) => parts.map(({ text }) => text ?? '')).join('')

/** What a task has said, once it has completed. */
export async function completedTask(server: Server, { id, ann }: Asked): Promise<string> {
  let said = ''
  await eventually(async () => {
    const task = await get(server, ann, id)
    expect(task.status.state).toBe('TASK_STATE_COMPLETED')
    said = textOf(task)
  })
  return said
}

export function taskCases(server: Server): void {
  it('let a task go on as its owner’s, and tell nothing of it', async () => {
    const ann = own('ann')
    const waiting = await askedTask(server, ann)
    const [entry] = await inbox(server, `bob of ${ann}`, 'whose=others')
    expect(entry).toMatchObject({
      request: waiting.requests[0],
      run: { id: waiting.id, kind: 'agent', name: 'pays', owner: ann, isTask: true },
    })
    const carol = await approveTask(server, waiting, own('carol'))
    expect(carol.error?.message).toContain('not found')
    const text = await send(server, `bob of ${ann}`, { taskId: waiting.id, parts: [{ text: 'yes' }] })
    expect(text.error).toBeDefined()
    const headers = { 'x-api-key': 'sk-of-bob-0123456789' }
    const bob = await approveTask(server, waiting, `bob of ${ann}`, headers)
    expect(bob.result?.message?.parts).toEqual([{ data: { id: waiting.id, goesOn: true } }])
    const said = await completedTask(server, waiting)
    expect(said).toContain(`paid 5 by ${ann}`)
    expect(said).toContain('with no key')
    await eventually(async () => expect(await inbox(server, ann)).toEqual([]))
  })

  it('let a task go on over HTTP, of its owner and of others', async () => {
    for (const isOwn of [true, false]) {
      const ann = own('ann')
      const waiting = await askedTask(server, ann)
      const who = isOwn ? ann : `bob of ${ann}`
      const read = await ask(server, `/api/approvals/${waiting.id}`, { headers: as(who) })
      expect(JSON.parse(read.text)).toMatchObject({
        run: { id: waiting.id, isTask: true },
        requests: waiting.requests,
        messages: [{ role: 'user', content: '5' }, { role: 'assistant' }],
      })
      for (const carol of [as(own('carol')), as(`thrower of ${ann}`), {}]) {
        const answers = [{ id: waiting.requests[0]?.id, decision: 'approve' }]
        const refused = await post(server, `/api/runs/${waiting.id}/answers`, { answers }, carol)
        await expectProblem(server, refused, 404, 'run_not_found')
      }
      const odd = await decide(server, waiting, who, { digest: 'x' })
      await expectProblem(server, odd, 409, 'request_changed')
      const told = await decide(server, waiting, who)
      const outcome = { id: waiting.id, kind: 'agent', name: 'pays', goesOn: true }
      expect([told.status, JSON.parse(told.text)]).toEqual([200, outcome])
      expect(await completedTask(server, waiting)).toContain(`paid 5 by ${ann}`)
      await expectProblem(server, await decide(server, waiting, who), 404, 'run_not_found')
    }
  })

  it('tell the owner over HTTP what is left', async () => {
    const waiting = await askedTask(server, own('ann'), undefined, { metadata: { agentName: 'orders' } })
    const [approval, question] = waiting.requests
    const answers = [{ id: question?.id, value: 'M' }]
    const { text } = await post(server, `/api/runs/${waiting.id}/answers`, { answers }, as(waiting.ann))
    const left = { id: waiting.id, kind: 'agent', name: 'orders', goesOn: false, requests: [approval] }
    expect(JSON.parse(text)).toEqual(left)
  })

  it('leave a task that used its owner’s key to its owner', async () => {
    const ann = own('ann')
    const headers = { 'x-api-key': 'sk-of-ann-0123456789' }
    const waiting = await askedTask(server, ann, headers)
    const bob = await approveTask(server, waiting, `bob of ${ann}`)
    expect(bob.result?.message?.parts[0]?.data).toMatchObject({ goesOn: false, resumable: true })
    expect((await get(server, ann, waiting.id)).status.state).toBe('TASK_STATE_INPUT_REQUIRED')
    const done = await send(server, ann, { taskId: waiting.id, parts: [{ text: 'go on' }] }, headers)
    expect(textOf(done.result!.task!)).toContain('with sk-of-ann-0123456789')
  })
}

export function taskExpiryCases(server: Server, state: string, said: string): void {
  it('ends or goes on by itself for a task, too', async () => {
    const ann = own('ann')
    const { id } = await askedTask(server, ann)
    await eventually(async () => {
      const task = await get(server, ann, id)
      expect(task.status.state).toBe(state)
      expect(textOf(task) + JSON.stringify(task.status)).toContain(said)
    })
    await eventually(async () => expect(await inbox(server, ann)).toEqual([]))
  })
}
