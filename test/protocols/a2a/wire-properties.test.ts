import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ServableError } from '../../../src/base/errors.ts'
import { isObject } from '../../../src/base/validation.ts'
import type {
  Message,
  Part,
  Task,
  TaskArtifact,
  TaskState,
  TaskUpdate,
} from '../../../src/protocols/a2a/model.ts'
import type { Wire } from '../../../src/protocols/a2a/wire/wire.ts'
import { artifactUpdate, message, statusUpdate, task } from './arbitrary.ts'
import { DIALECTS, type Dialect, type Json, messageOf, V1, V03, V03_REST } from './requests.ts'

const named = DIALECTS.map(dialect => [dialect.name, dialect] as const)

/** What is left of a part on a wire that has no place for the rest. */
const KEPT: Readonly<Record<string, (part: Part) => Part>> = {
  [V1.name]: part => part,
  [V03.name]: ({ text, raw, url, data, mediaType, filename, metadata }) => {
    const isFile = raw !== undefined || url !== undefined
    const about = isFile ? { mediaType, filename } : {}
    // Metadata that are empty are gone where the data had to be wrapped.
    const isGone = data !== undefined && !isObject(data) && Object.keys(metadata ?? {}).length === 0
    return { text, raw, url, data, ...about, metadata: isGone ? undefined : metadata }
  },
  [V03_REST.name]: ({ text, raw, url, data, mediaType }) => {
    const isFile = raw !== undefined || url !== undefined
    return {
      text,
      raw,
      url,
      data: data === undefined || isObject(data) ? data : { value: data },
      ...(isFile && { mediaType }),
    }
  },
}

function keptMessage({ name }: Dialect, value: Message): Message {
  const { referenceTaskIds, ...rest } = value
  const kept = name === V03_REST.name ? rest : value
  return { ...kept, parts: value.parts.map(KEPT[name]!) }
}

function keptArtifact({ name }: Dialect, value: TaskArtifact): TaskArtifact {
  return { ...value, parts: value.parts.map(KEPT[name]!) }
}

function keptTask(dialect: Dialect, value: Task): Task {
  const said = value.status.message
  return {
    ...value,
    status: { ...value.status, message: said && keptMessage(dialect, said) },
    artifacts: value.artifacts?.map(artifact => keptArtifact(dialect, artifact)),
    history: value.history?.map(message => keptMessage(dialect, message)),
  }
}

/** Reads what the encoders write: messages and parts with the wire's own decoder, the rest by name. */
class Reader {
  readonly #dialect: Dialect

  constructor(dialect: Dialect) {
    this.#dialect = dialect
  }

  message(json: Json): Message {
    return this.#dialect.wire.decode.send({ message: json }).message
  }

  artifact({ parts, ...rest }: Json): TaskArtifact {
    const carrier = messageOf(this.#dialect, { [this.#dialect.parts]: parts })
    return { ...rest, parts: this.message(carrier).parts } as TaskArtifact
  }

  status({ state, message, ...rest }: Json): Task['status'] {
    const read = this.#dialect.wire.decode.list({ status: state }).state as TaskState
    return { ...(rest as { timestamp: string }), state: read, ...this.#optional({ message }, this.message) }
  }

  task({ kind: _, status, artifacts, history, ...rest }: Json): Task {
    return {
      ...(rest as { id: string; contextId: string }),
      status: this.status(status as Json),
      ...this.#optional({ artifacts }, list => (list as unknown as Json[]).map(item => this.artifact(item))),
      ...this.#optional({ history }, list => (list as unknown as Json[]).map(item => this.message(item))),
    }
  }

  update(json: Json): TaskUpdate {
    const {
      kind: _,
      final: __,
      status,
      artifact,
      ...rest
    } = (json.statusUpdate ?? json.artifactUpdate ?? json) as Json
    if (status !== undefined)
      return { ...rest, type: 'status', status: this.status(status as Json) } as TaskUpdate
    const flags = { append: false, lastChunk: false }
    return { ...flags, ...rest, type: 'artifact', artifact: this.artifact(artifact as Json) } as TaskUpdate
  }

  #optional<T>(member: Json, read: (value: Json) => T): Record<string, T> {
    const [[name, value]] = Object.entries(member) as [[string, Json | undefined]]
    return value === undefined ? {} : { [name]: read.call(this, value) }
  }
}

const header = fc.stringMatching(/^[\x21-\x7e]{1,20}$/)

// Neither of the two ids that a path would resolve away.
const configId = fc.string({ minLength: 1, maxLength: 12 }).filter(id => !/^\.\.?$/.test(id))

const pushConfig = fc
  .tuple(
    fc.record({ id: configId, url: fc.webUrl() }),
    fc.record({ token: header }, { requiredKeys: [] }),
    fc.constantFrom({}, { scheme: 'Bearer' }, { scheme: 'Bearer', credentials: 'its-own-credentials' }),
  )
  .map(([needed, token, authentication]) => ({ ...needed, ...token, ...authentication }) as PushConfigOf)

type PushConfigOf = { id: string; url: string; token?: string; scheme?: string; credentials?: string }

/** As it goes over the wire. */
const carried = (value: unknown): Json => JSON.parse(JSON.stringify(value))

describe.each(named)('a round trip over %s', (_, dialect) => {
  const reader = new Reader(dialect)
  const { encode } = dialect.wire

  it('keeps messages', () => {
    fc.assert(
      fc.property(message, value => {
        const json = carried(encode.sent({ message: value }))
        expect(reader.message((json.message ?? json) as Json)).toEqual(keptMessage(dialect, value))
      }),
    )
  })

  it('keeps tasks', () => {
    fc.assert(
      fc.property(task, value => {
        expect(reader.task(carried(encode.task(value)))).toEqual(keptTask(dialect, value))
      }),
    )
  })

  it('keeps updates', () => {
    fc.assert(
      fc.property(statusUpdate, value => {
        const said = value.status.message
        const status = { ...value.status, message: said && keptMessage(dialect, said) }
        expect(reader.update(carried(encode.update(value)))).toEqual({ ...value, status })
      }),
    )
    fc.assert(
      fc.property(artifactUpdate, value => {
        const artifact = keptArtifact(dialect, value.artifact)
        expect(reader.update(carried(encode.update(value)))).toEqual({ ...value, artifact })
      }),
    )
  })

  it('keeps push notification configs, but for their credentials', () => {
    const { push, version } = dialect.wire
    fc.assert(
      fc.property(pushConfig, value => {
        const json = carried(push.encode('task', { ...value, version }))
        const { credentials: _, ...kept } = value
        expect(push.decode('set', { taskId: 'task', ...json })).toEqual({
          act: 'set',
          taskId: 'task',
          config: { ...kept, version },
        })
        if (value.credentials !== undefined) expect(JSON.stringify(json)).not.toContain(value.credentials)
      }),
    )
  })
})

const METHODS = ['send', 'get', 'list', 'cancel', 'subscribe'] as const

/** A request is read, or refused with `invalid_params` and the fields that are wrong. */
function readsOrRefuses(wire: Wire, params: unknown): void {
  for (const method of METHODS) {
    try {
      wire.decode[method](params)
    } catch (error) {
      expect(error).toBeInstanceOf(ServableError)
      expect(error).toMatchObject({ code: 'invalid_params' })
      expect((error as ServableError).issues.length).toBeGreaterThan(0)
    }
  }
  for (const act of ['set', 'get', 'list', 'delete'] as const) {
    try {
      wire.push.decode(act, params)
    } catch (error) {
      expect(error).toMatchObject({ name: 'ServableError', code: 'invalid_params' })
    }
  }
}

/** Every place in a JSON value, as the path to it. */
function placesOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : []
  return [path, ...inner.flatMap(([key, item]) => placesOf(item, [...path, key]))]
}

/** The value with another one in that place; undefined removes it. */
function replaced(value: unknown, [key, ...rest]: readonly string[], next: unknown): unknown {
  if (key === undefined) return next
  const copy: unknown = structuredClone(value)
  const holder = copy as Json
  const put = replaced(holder[key], rest, next)
  if (put === undefined) delete holder[key]
  else holder[key] = put
  return copy
}

function validRequest(dialect: Dialect): Json {
  const { parts, text, raw, url, data } = dialect
  const config = { url: 'https://a.example' }
  return {
    message: messageOf(dialect, {
      [parts]: [text('a'), raw('AA=='), url('https://a.example'), data({ a: 1 })],
      contextId: 'c',
      taskId: 't',
      metadata: { a: [1] },
      extensions: ['e'],
      referenceTaskIds: ['r'],
    }),
    configuration: {
      acceptedOutputModes: ['text/plain'],
      historyLength: 1,
      blocking: true,
      returnImmediately: false,
      pushNotificationConfig: config,
      taskPushNotificationConfig: config,
    },
    metadata: { b: null },
    id: 't',
    historyLength: 2,
    pageSize: 3,
    pageToken: 'p',
    contextId: 'c',
    statusTimestampAfter: '2026-01-31T12:00:00Z',
    includeArtifacts: true,
  }
}

const wrong = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(
    undefined,
    -0,
    1e308,
    2 ** 53,
    '__proto__',
    'constructor',
    '\u0000',
    '\ud800',
    '9'.repeat(400),
  ),
  fc.constant(JSON.parse('{"__proto__":{"role":"ROLE_USER"},"constructor":1,"toString":null}')),
)

describe.each(named)('whatever is sent to %s', (_, dialect) => {
  it('is read or refused: random JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), value => readsOrRefuses(dialect.wire, value)),
      { numRuns: 1000 },
    )
  })

  it('is read or refused: a valid request, changed in one to four places', () => {
    const valid = validRequest(dialect)
    const places = placesOf(valid).filter(path => path.length > 0)
    const changes = fc.array(fc.tuple(fc.constantFrom(...places), wrong), { minLength: 1, maxLength: 4 })
    expect(() => dialect.wire.decode.send(valid)).not.toThrow()
    fc.assert(
      fc.property(changes, list => {
        const changed = list.reduce<unknown>((value, [path, next]) => {
          const isThere = placesOf(value).some(place => place.join('.') === path.join('.'))
          return isThere ? replaced(value, path, next) : value
        }, valid)
        readsOrRefuses(dialect.wire, changed)
      }),
      { numRuns: 2000 },
    )
  })
})
