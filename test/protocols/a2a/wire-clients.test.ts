import { SendMessageResponse, StreamResponse, Task as TaskOfSdk } from '@a2a-js/sdk'
import { LegacyRestTransport } from '@a2a-js/sdk/compat/v0_3/client'
import type { TaskStatusUpdateEvent } from 'a2a-sdk-0.3'
import { JsonRpcTransport as OldJsonRpc, RestTransport as OldRest } from 'a2a-sdk-0.3/client'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SendRequest, Task, TaskUpdate } from '../../../src/protocols/a2a/model.ts'
import { v1 } from '../../../src/protocols/a2a/wire/v1.ts'
import { v03 } from '../../../src/protocols/a2a/wire/v03.ts'
import { v03Rest } from '../../../src/protocols/a2a/wire/v03-rest.ts'
import { drain } from '../../support.ts'
import { artifactUpdate, message, statusUpdate, task } from './arbitrary.ts'

const carried = (value: unknown) => JSON.parse(JSON.stringify(value))

/** The SDK writes no empty objects of metadata apart from none, and reads a data part of null as no part. */
const plain = (value: unknown): boolean => !/"data":null|"__proto__"/.test(JSON.stringify(value))

describe('the official reader of 1.0', () => {
  it('reads results without loss', () => {
    fc.assert(
      fc.property(task.filter(plain), message.filter(plain), (task, message) => {
        const json = carried(v1.encode.task(task))
        expect(carried(TaskOfSdk.toJSON(TaskOfSdk.fromJSON(json)))).toEqual(json)
        for (const sent of [carried(v1.encode.sent({ task })), carried(v1.encode.sent({ message }))]) {
          expect(carried(SendMessageResponse.toJSON(SendMessageResponse.fromJSON(sent)))).toEqual(sent)
        }
      }),
    )
  })

  it('reads updates without loss', () => {
    const update: fc.Arbitrary<TaskUpdate> = fc.oneof(statusUpdate, artifactUpdate).filter(plain)
    fc.assert(
      fc.property(update, update => {
        const json = carried(v1.encode.update(update))
        expect(carried(StreamResponse.toJSON(StreamResponse.fromJSON(json)))).toEqual(json)
      }),
    )
  })
})

const TASK: Task = {
  id: 't',
  contextId: 'c',
  status: {
    state: 'canceled',
    timestamp: '2026-01-31T12:00:00.000Z',
    message: { messageId: 's', role: 'agent', parts: [{ text: 'stopped' }] },
  },
  history: [
    {
      messageId: 'm',
      role: 'user',
      parts: [{ text: 'go' }, { data: { a: 1 } }, { url: 'https://a.example/x' }],
    },
  ],
  artifacts: [{ artifactId: 'a', parts: [{ raw: 'AAEC', mediaType: 'image/png', filename: 'x.png' }] }],
}

/** A server that reads a send with the wire's decoder and answers with `TASK`. */
function server(read: (body: Record<string, unknown>) => SendRequest, answer: (id: unknown) => unknown) {
  const requests: SendRequest[] = []
  const fetchImpl: typeof fetch = async (_, init) => {
    const body = JSON.parse(String(init?.body))
    requests.push(read(body))
    return Response.json(carried(answer(body.id)))
  }
  return { requests, fetchImpl }
}

const params = {
  message: {
    kind: 'message' as const,
    messageId: 'm',
    role: 'user' as const,
    parts: [
      { kind: 'text' as const, text: 'go' },
      { kind: 'file' as const, file: { bytes: 'AAEC', mimeType: 'image/png' } },
      { kind: 'data' as const, data: { a: 1 } },
    ],
    contextId: 'c',
  },
  configuration: { blocking: false, acceptedOutputModes: ['text/plain'], historyLength: 3 },
}

const READ = {
  message: {
    messageId: 'm',
    role: 'user',
    contextId: 'c',
    parts: [{ text: 'go' }, { raw: 'AAEC', mediaType: 'image/png' }, { data: { a: 1 } }],
  },
  configuration: { returnImmediately: true, acceptedOutputModes: ['text/plain'], historyLength: 3 },
}

describe('the official clients of 0.3', () => {
  const rest = () => server(v03Rest.decode.send, () => v03Rest.encode.sent({ task: TASK }))

  it('speak JSON-RPC with the wire', async () => {
    const { requests, fetchImpl } = server(
      body => v03.decode.send(body.params),
      id => ({ jsonrpc: '2.0', id, result: v03.encode.sent({ task: TASK }) }),
    )
    const answer = await new OldJsonRpc({ endpoint: 'https://a.example', fetchImpl }).sendMessage(params)
    expect(requests).toMatchObject([READ])
    expect(answer).toEqual(v03.encode.task(TASK))
  })

  it('speak HTTP+JSON with the wire', async () => {
    const { requests, fetchImpl } = rest()
    const answer = await new OldRest({ endpoint: 'https://a.example', fetchImpl }).sendMessage(params)
    expect(requests).toMatchObject([READ])
    expect(answer).toMatchObject({
      kind: 'task',
      status: { state: 'canceled', message: { parts: [{ kind: 'text', text: 'stopped' }] } },
      history: [
        {
          role: 'user',
          parts: [{ text: 'go' }, { data: { a: 1 } }, { file: { uri: 'https://a.example/x' } }],
        },
      ],
      artifacts: [{ parts: [{ kind: 'file', file: { bytes: 'AAEC', mimeType: 'image/png' } }] }],
    })
  })

  it('get a message over HTTP+JSON', async () => {
    const said = { messageId: 's', role: 'agent' as const, parts: [{ text: 'hi' }] }
    const { fetchImpl } = server(v03Rest.decode.send, () => v03Rest.encode.sent({ message: said }))
    const answer = await new OldRest({ endpoint: 'https://a.example', fetchImpl }).sendMessage(params)
    expect(answer).toMatchObject({ kind: 'message', messageId: 's', parts: [{ kind: 'text', text: 'hi' }] })
  })

  it('follow a stream over HTTP+JSON, in 0.3 and in 1.x', async () => {
    const update: TaskUpdate = { type: 'status', taskId: 't', contextId: 'c', status: TASK.status }
    const events = [v03Rest.encode.update({ type: 'task', task: TASK }), v03Rest.encode.update(update)]
    const fetchImpl = async () => {
      const body = events.map(event => `data: ${JSON.stringify(event)}\n\n`).join('')
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    }
    const endpoint = 'https://a.example'
    const [first, last] = await drain(new OldRest({ endpoint, fetchImpl }).resubscribeTask({ id: 't' }))
    expect(first).toMatchObject({ kind: 'task', id: 't' })
    expect(last as TaskStatusUpdateEvent).toMatchObject({ kind: 'status-update', final: true })
    const translated = new LegacyRestTransport({ endpoint, fetchImpl }).resubscribeTask({
      id: 't',
      tenant: '',
    })
    expect((await drain(translated)).map(({ payload }) => payload?.$case)).toEqual(['task', 'statusUpdate'])
  })
})
