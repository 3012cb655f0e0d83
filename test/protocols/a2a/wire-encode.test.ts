import { describe, expect, it } from 'vitest'
import type {
  Message,
  Part,
  StatusUpdate,
  Task,
  TaskState,
  TaskUpdate,
} from '../../../src/protocols/a2a/model.ts'
import { v1 } from '../../../src/protocols/a2a/wire/v1.ts'
import { v03 } from '../../../src/protocols/a2a/wire/v03.ts'
import { v03Rest } from '../../../src/protocols/a2a/wire/v03-rest.ts'
import type { Wire } from '../../../src/protocols/a2a/wire/wire.ts'

const timestamp = '2026-01-31T12:00:00.000Z'
const message: Message = {
  messageId: 'm',
  role: 'agent',
  parts: [{ text: 'hi' }],
  contextId: 'c',
  taskId: 't',
}
const task: Task = { id: 't', contextId: 'c', status: { state: 'working', timestamp } }

const wires: readonly [name: string, wire: Wire][] = [
  ['1.0', v1],
  ['0.3 JSON-RPC', v03],
  ['0.3 HTTP+JSON', v03Rest],
]

/** How each wire writes a part: 1.0, 0.3 JSON-RPC, 0.3 HTTP+JSON. */
const PARTS: readonly [part: Part, v1: unknown, v03: unknown, v03Rest: unknown][] = [
  [{ text: '' }, { text: '' }, { kind: 'text', text: '' }, { text: '' }],
  [
    { raw: 'AA==', mediaType: 'a/b', filename: 'c' },
    { raw: 'AA==', mediaType: 'a/b', filename: 'c' },
    { kind: 'file', file: { bytes: 'AA==', mimeType: 'a/b', name: 'c' } },
    { file: { fileWithBytes: 'AA==', mimeType: 'a/b' } },
  ],
  [
    { url: 'https://a.example/x' },
    { url: 'https://a.example/x' },
    { kind: 'file', file: { uri: 'https://a.example/x' } },
    { file: { fileWithUri: 'https://a.example/x' } },
  ],
  [{ data: { a: 1 } }, { data: { a: 1 } }, { kind: 'data', data: { a: 1 } }, { data: { data: { a: 1 } } }],
  [
    { data: null },
    { data: null },
    { kind: 'data', data: { value: null }, metadata: { data_part_compat: true } },
    { data: { data: { value: null } } },
  ],
  [
    { data: [1], metadata: { b: 2 } },
    { data: [1], metadata: { b: 2 } },
    { kind: 'data', data: { value: [1] }, metadata: { b: 2, data_part_compat: true } },
    { data: { data: { value: [1] } } },
  ],
]

describe('parts', () => {
  it.each(PARTS)('writes %j in three ways', (part, ...expected) => {
    const told: Message = { messageId: 'm', role: 'user', parts: [part] }
    const id = { messageId: 'm' }
    expect(v1.encode.sent({ message: told })).toEqual({
      message: { ...id, role: 'ROLE_USER', parts: [expected[0]] },
    })
    expect(v03.encode.sent({ message: told })).toEqual({
      ...id,
      kind: 'message',
      role: 'user',
      parts: [expected[1]],
    })
    expect(v03Rest.encode.sent({ message: told })).toEqual({
      message: { ...id, role: 'ROLE_USER', content: [expected[2]] },
    })
  })
})

const STATES: readonly [state: TaskState, proto: string, isFinal: boolean][] = [
  ['submitted', 'TASK_STATE_SUBMITTED', false],
  ['working', 'TASK_STATE_WORKING', false],
  ['input-required', 'TASK_STATE_INPUT_REQUIRED', true],
  ['auth-required', 'TASK_STATE_AUTH_REQUIRED', true],
  ['completed', 'TASK_STATE_COMPLETED', true],
  ['failed', 'TASK_STATE_FAILED', true],
  ['canceled', 'TASK_STATE_CANCELED', true],
  ['rejected', 'TASK_STATE_REJECTED', true],
]

describe('status updates', () => {
  it.each(STATES)('writes %s as %s; final in 0.3: %s', (state, proto, isFinal) => {
    const update: StatusUpdate = { type: 'status', taskId: 't', contextId: 'c', status: { state, timestamp } }
    const ids = { taskId: 't', contextId: 'c' }
    expect(v1.encode.update(update)).toEqual({
      statusUpdate: { ...ids, status: { state: proto, timestamp } },
    })
    expect(v03.encode.update(update)).toEqual({
      kind: 'status-update',
      ...ids,
      status: { state, timestamp },
      final: isFinal,
    })
    const rest = proto.replace('CANCELED', 'CANCELLED')
    expect(v03Rest.encode.update(update)).toEqual({
      statusUpdate: { ...ids, status: { state: rest, timestamp }, final: isFinal },
    })
  })
})

describe('artifact updates', () => {
  const update: TaskUpdate = {
    type: 'artifact',
    taskId: 't',
    contextId: 'c',
    artifact: { artifactId: 'a', name: 'n', parts: [{ text: 'x' }] },
    append: true,
    lastChunk: false,
  }
  const ids = { taskId: 't', contextId: 'c' }
  const head = { artifactId: 'a', name: 'n' }

  it('leaves out what is false in proto-JSON', () => {
    const expected = { ...ids, artifact: { ...head, parts: [{ text: 'x' }] }, append: true }
    expect(v1.encode.update(update)).toEqual({ artifactUpdate: expected })
    expect(v03Rest.encode.update(update)).toEqual({ artifactUpdate: expected })
  })

  it('writes it in JSON-RPC of 0.3', () => {
    expect(v03.encode.update(update)).toEqual({
      kind: 'artifact-update',
      ...ids,
      artifact: { ...head, parts: [{ kind: 'text', text: 'x' }] },
      append: true,
      lastChunk: false,
    })
  })
})

describe('tasks and messages', () => {
  it('writes the results of a send', () => {
    const proto = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING', timestamp } }
    expect(v1.encode.sent({ task })).toEqual({ task: proto })
    expect(v03Rest.encode.sent({ task })).toEqual({ task: proto })
    expect(v03.encode.sent({ task })).toEqual({
      kind: 'task',
      id: 't',
      contextId: 'c',
      status: { state: 'working', timestamp },
    })
  })

  it.each(wires)('writes the first of a stream as a send of %s does', (_, wire) => {
    expect(wire.encode.update({ type: 'task', task })).toEqual(wire.encode.sent({ task }))
    expect(wire.encode.update({ type: 'message', message })).toEqual(wire.encode.sent({ message }))
  })

  it.each(wires)('leaves out empty lists and what is not set in %s', (_, wire) => {
    const bare: Task = {
      ...task,
      artifacts: [],
      history: [],
      metadata: undefined,
      status: { state: 'working', timestamp, message: undefined },
    }
    expect(JSON.stringify(wire.encode.task(bare))).toBe(JSON.stringify(wire.encode.task(task)))
  })

  it('writes what was said along with a status, marked in 0.3', () => {
    const said: Task = { ...task, history: [message], status: { ...task.status, message } }
    expect(v03.encode.task(said)).toMatchObject({
      history: [{ kind: 'message', role: 'agent', parts: [{ kind: 'text', text: 'hi' }] }],
      status: { message: { kind: 'message' } },
    })
    expect(v03Rest.encode.task(said)).toMatchObject({
      history: [{ role: 'ROLE_AGENT', content: [{ text: 'hi' }] }],
      status: { message: { content: [{ text: 'hi' }] } },
    })
    expect(JSON.stringify(v1.encode.task(said))).not.toContain('kind')
  })

  it('writes references to tasks where the generation has them', () => {
    const referring: Message = { ...message, referenceTaskIds: ['r'] }
    expect(v1.encode.sent({ message: referring })).toMatchObject({ message: { referenceTaskIds: ['r'] } })
    expect(v03.encode.sent({ message: referring })).toMatchObject({ referenceTaskIds: ['r'] })
    expect(JSON.stringify(v03Rest.encode.sent({ message: referring }))).not.toContain('reference')
  })

  it('writes all members of a page, the empty ones too', () => {
    expect(v1.encode.page({ tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 })).toEqual({
      tasks: [],
      nextPageToken: '',
      pageSize: 50,
      totalSize: 0,
    })
    const page = { tasks: [task], nextPageToken: 'n', pageSize: 1, totalSize: 2 }
    expect(v1.encode.page(page)).toEqual({ ...page, tasks: [v1.encode.task(task)] })
  })

  it('states its version', () => {
    expect(wires.map(([, wire]) => wire.version)).toEqual(['1.0', '0.3', '0.3'])
  })
})
