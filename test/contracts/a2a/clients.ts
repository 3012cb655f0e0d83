import { Role, SendMessageRequest, TaskState } from '@a2a-js/sdk'
import type { Client } from '@a2a-js/sdk/client'
import { A2AClient } from 'a2a-sdk-0.2/client'
import type { MessageSendParams, Task } from 'a2a-sdk-0.3'
import type { Client as Client03 } from 'a2a-sdk-0.3/client'
import { describe, expect, it } from 'vitest'
import { eventually, noted, openGate, own, type Server } from './client.ts'
import { type Binding, stock03, stockV1 } from './stock.ts'

/** A client of any version: its operations, and what it reports. */
interface Speaker {
  send(said: Said): Promise<Seen>
  stream(said: Said): AsyncGenerator<Seen>
  resubscribe(id: string): AsyncGenerator<Seen>
  get(id: string): Promise<Seen>
  cancel(id: string): Promise<Seen>
  /** The ids of a context's tasks. Undefined if the client has no lists. */
  list?(contextId: string): Promise<string[]>
}

interface Said {
  readonly text: string
  readonly agent?: string | undefined
  readonly taskId?: string | undefined
  readonly contextId?: string | undefined
  readonly wait?: boolean
}

/** The checked parts of a task, a message or an update. */
interface Seen {
  readonly kind: string
  readonly id?: string | undefined
  readonly contextId?: string | undefined
  readonly state?: string | undefined
  readonly text: string
}

type Discover = (url: string) => Promise<Speaker>

/** Parameters of 1.x in the form of its generated code. */
function paramsV1({ text, agent, taskId, contextId, wait = true }: Said): SendMessageRequest {
  return SendMessageRequest.fromJSON({
    message: {
      messageId: crypto.randomUUID(),
      role: 'ROLE_USER',
      parts: [{ text }],
      taskId,
      contextId,
      ...(agent !== undefined && { metadata: { agentName: agent } }),
    },
    configuration: { returnImmediately: !wait },
  })
}

type PartV1 = { readonly content?: { readonly $case: string; readonly value: unknown } | undefined }

const textV1 = (parts: readonly PartV1[] = []): string =>
  parts.map(({ content }) => (content?.$case === 'text' ? String(content.value) : '')).join('')

const stateV1 = (state: TaskState | undefined): string =>
  TaskState[state ?? TaskState.TASK_STATE_UNSPECIFIED]!.replace('TASK_STATE_', '')
    .toLowerCase()
    .replaceAll('_', '-')

type SentV1 = Awaited<ReturnType<Client['sendMessage']>>
type TaskV1 = Awaited<ReturnType<Client['getTask']>>
type UpdateV1 = Awaited<ReturnType<ReturnType<Client['sendMessageStream']>['next']>>['value']

function seenV1(sent: SentV1): Seen {
  if ('messageId' in sent) {
    expect(sent.role).toBe(Role.ROLE_AGENT)
    return { kind: 'message', text: textV1(sent.parts) }
  }
  return taskV1(sent)
}

function taskV1({ id, contextId, status, artifacts }: TaskV1): Seen {
  const text = artifacts.map(({ parts }) => textV1(parts)).join('')
  return { kind: 'task', id, contextId, state: stateV1(status?.state), text }
}

function updateV1(update: UpdateV1): Seen {
  const { payload } = update!
  switch (payload?.$case) {
    case 'task':
      return taskV1(payload.value)
    case 'message':
      return { kind: 'message', text: textV1(payload.value.parts) }
    case 'statusUpdate':
      return {
        kind: 'status',
        id: payload.value.taskId,
        state: stateV1(payload.value.status?.state),
        text: '',
      }
    case 'artifactUpdate':
      return { kind: 'artifact', id: payload.value.taskId, text: textV1(payload.value.artifact?.parts) }
    default:
      throw new Error('an update of no kind')
  }
}

async function* mapped<T>(source: AsyncGenerator<T>, map: (value: T) => Seen): AsyncGenerator<Seen> {
  for await (const value of source) yield map(value)
}

function speakerV1(client: Client): Speaker {
  const tenant = ''
  return {
    send: async said => seenV1(await client.sendMessage(paramsV1(said))),
    stream: said => mapped(client.sendMessageStream(paramsV1(said)), updateV1),
    resubscribe: id => mapped(client.resubscribeTask({ id, tenant }), updateV1),
    get: async id => taskV1(await client.getTask({ id, tenant, historyLength: undefined })),
    cancel: async id => taskV1(await client.cancelTask({ id, tenant, metadata: undefined })),
    list: async contextId => {
      const status = TaskState.TASK_STATE_UNSPECIFIED
      const page = await client.listTasks({
        contextId,
        tenant,
        status,
        pageToken: '',
        statusTimestampAfter: undefined,
      })
      return page.tasks.map(({ id }) => id)
    },
  }
}

/** A client of 1.x with one binding. It requests the card with `headers`. With `isOld` it speaks 0.3. */
function discoverV1(binding: Binding, headers: Record<string, string>, isOld = false): Discover {
  const cardFetch: typeof fetch = (input, init) => {
    const all = new Headers(init?.headers)
    for (const [name, value] of Object.entries(headers)) all.set(name, value)
    return fetch(input, { ...init, headers: all })
  }
  return async url => {
    const client = await stockV1(url, binding, { cardFetch, isOld })
    expect(client.protocolVersion).toMatch(isOld ? /^0\.3/ : /^1\.0/)
    return speakerV1(client)
  }
}

type Old = { readonly kind?: string }

function params03({ text, agent, taskId, contextId, wait = true }: Said): MessageSendParams {
  return {
    message: {
      kind: 'message',
      messageId: crypto.randomUUID(),
      role: 'user',
      parts: [{ kind: 'text', text }],
      ...(taskId !== undefined && { taskId }),
      ...(contextId !== undefined && { contextId }),
      ...(agent !== undefined && { metadata: { agentName: agent } }),
    },
    configuration: { blocking: wait, acceptedOutputModes: [] },
  }
}

type OldPart = { readonly kind: string; readonly text?: string }

const text03 = (parts: readonly OldPart[] = []): string => parts.map(({ text = '' }) => text).join('')

/** In 0.2 and 0.3 every object names its kind. */
function seen03(value: Old): Seen {
  const all = value as Partial<Task> & {
    taskId?: string
    parts?: OldPart[]
    artifact?: { parts: OldPart[] }
  }
  const { kind = '', contextId, status, artifacts = [], artifact, parts } = all
  const text =
    artifacts.map(each => text03(each.parts as OldPart[])).join('') + text03(artifact?.parts) + text03(parts)
  return {
    kind: kind.replace('-update', ''),
    id: all.id ?? all.taskId,
    contextId,
    state: status?.state,
    text,
  }
}

function speaker03(client: Client03): Speaker {
  return {
    send: async said => seen03(await client.sendMessage(params03(said))),
    stream: said => mapped(client.sendMessageStream(params03(said)), seen03),
    resubscribe: id => mapped(client.resubscribeTask({ id }), seen03),
    get: async id => seen03(await client.getTask({ id })),
    cancel: async id => seen03(await client.cancelTask({ id })),
  }
}

function discover03(binding: Binding): Discover {
  return async url => speaker03(await stock03(url, binding))
}

function result02(response: object): Seen {
  if ('error' in response) throw new Error(JSON.stringify(response.error))
  return seen03((response as { result: Old }).result)
}

/** 0.2.5 speaks only JSON-RPC, and finds its card at the old path. */
const discover02: Discover = async url => {
  const client = new A2AClient(url)
  expect(await client.getAgentCard()).toMatchObject({ capabilities: { streaming: true } })
  return {
    send: async said => result02(await client.sendMessage(params03(said) as never)),
    stream: said => mapped(client.sendMessageStream(params03(said) as never), seen03),
    resubscribe: id => mapped(client.resubscribeTask({ id }), seen03),
    get: async id => result02(await client.getTask({ id })),
    cancel: async id => result02(await client.cancelTask({ id })),
  }
}

const CLIENTS: Readonly<Record<string, Discover>> = {
  '1.x on JSON-RPC': discoverV1('JSONRPC', {}),
  '1.x on JSON-RPC, whose card request names no version': discoverV1('JSONRPC', { 'a2a-version': '' }),
  '1.x on HTTP+JSON': discoverV1('HTTP+JSON', {}),
  '1.x on JSON-RPC, for servers of 0.3': discoverV1('JSONRPC', { 'a2a-version': '0.3' }, true),
  '1.x on HTTP+JSON, for servers of 0.3': discoverV1('HTTP+JSON', { 'a2a-version': '0.3' }, true),
  '0.3 on JSON-RPC': discover03('JSONRPC'),
  '0.3 on HTTP+JSON': discover03('HTTP+JSON'),
  '0.2 on JSON-RPC': discover02,
}

async function all(stream: AsyncGenerator<Seen>): Promise<Seen[]> {
  const events: Seen[] = []
  for await (const event of stream) events.push(event)
  return events
}

const textIn = (events: readonly Seen[]) => events.map(({ text }) => text).join('')

export function clientCases(server: Server): void {
  describe.each(Object.entries(CLIENTS))('the stock client of %s', (name, discover) => {
    const speak = () => discover(server().url)

    it('sends, and gets what came of it', async () => {
      const speaker = await speak()
      const task = await speaker.send({ text: 'one two' })
      expect(task).toMatchObject({ kind: 'task', state: 'completed', text: 'one two' })
      expect(await speaker.get(task.id!)).toEqual(task)
      const message = await speaker.send({ text: 'hi', agent: 'says' })
      expect(message).toMatchObject({ kind: 'message', text: 'you said hi' })
    })

    it('streams', async () => {
      const speaker = await speak()
      const events = await all(speaker.stream({ text: '3', agent: 'slow' }))
      expect(events[0]?.kind).toBe('task')
      expect(textIn(events)).toBe('1 2 3 ')
      expect(events.at(-1)).toMatchObject({ kind: 'status', state: 'completed' })
      expect(await all(speaker.stream({ text: 'hi', agent: 'says' }))).toMatchObject([{ kind: 'message' }])
    })

    it('subscribes again', async () => {
      const speaker = await speak()
      const gate = own('gate')
      const { id } = await speaker.send({ text: gate, agent: 'gated', wait: false })
      await noted(server, `${gate} started`)
      const stream = speaker.resubscribe(id!)
      const { value: first } = await stream.next()
      expect(first).toMatchObject({ kind: 'task', id, state: 'working' })
      await openGate(server, gate)
      const events = [first as Seen, ...(await all(stream))]
      expect(textIn(events)).toBe('before after')
      expect(events.at(-1)).toMatchObject({ kind: 'status', state: 'completed' })
    })

    it('cancels', async () => {
      const speaker = await speak()
      const gate = own('gate')
      const { id } = await speaker.send({ text: gate, agent: 'gated', wait: false })
      await noted(server, `${gate} started`)
      expect(await speaker.cancel(id!)).toMatchObject({ id, state: 'canceled' })
      await noted(server, `${gate} stopped`)
      await eventually(async () => expect((await speaker.get(id!)).state).toBe('canceled'))
      await expect(speaker.send({ text: 'more', taskId: id })).rejects.toThrow()
    })

    it('continues a task that waits for it', async () => {
      const speaker = await speak()
      const { id, contextId, state } = await speaker.send({ text: 'weather?', agent: 'clerk' })
      expect(state).toBe('input-required')
      const again = await all(speaker.stream({ text: 'hm', taskId: id, contextId }))
      expect(again.at(-1)).toMatchObject({ state: 'input-required' })
      const last = await speaker.send({ text: 'Oslo', taskId: id, contextId })
      expect(last).toMatchObject({ id, contextId, state: 'completed' })
      expect(last.text).toContain('sunny in Oslo')
    })

    it('is told of a task that is not there', async () => {
      const speaker = await speak()
      await expect(speaker.get(crypto.randomUUID())).rejects.toThrow()
      await expect(speaker.cancel(crypto.randomUUID())).rejects.toThrow()
      await expect(all(speaker.resubscribe(crypto.randomUUID()))).rejects.toThrow()
    })

    it('speaks to one agent at its own endpoint', async () => {
      const speaker = await discover(`${server().url}/agents/mirror`)
      const task = await speaker.send({ text: 'one', agent: 'echo' })
      expect(task).toMatchObject({ state: 'completed', text: 'one' })
      expect((await speaker.get(task.id!)).id).toBe(task.id)
    })

    it('reads the strict card if it is of 1.0', async () => {
      const discovering = discover(`${server().url}/strict`)
      const isNew = name.startsWith('1.x')
      if (!isNew) return expect(discovering.then(speaker => speaker.send({ text: 'x' }))).rejects.toThrow()
      expect(await (await discovering).send({ text: 'one' })).toMatchObject({ state: 'completed' })
    })

    it('lists the tasks of a context, if it can', async () => {
      const speaker = await speak()
      const contextId = own('context')
      const { id } = await speaker.send({ text: 'x', contextId })
      if (speaker.list === undefined || name.includes('servers of 0.3')) return
      expect(await speaker.list(contextId)).toEqual([id])
    })
  })
}
