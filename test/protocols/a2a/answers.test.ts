/** What a message of a task answers, and what is kept while the task waits. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ServableError } from '../../../src/base/errors.ts'
import { Agent, type InputRequest } from '../../../src/index.ts'
import type { Message, Part } from '../../../src/protocols/a2a/model.ts'
import { answersIn } from '../../../src/protocols/a2a/tasks/answers.ts'
import { createLocalTaskHost } from '../../../src/protocols/a2a/tasks/local-task-host.ts'
import type { Target } from '../../../src/runs/target.ts'
import { WAITING } from '../../../src/runs/waiting/waiting.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { asking } from '../../contracts/fixture/asking.ts'
import { SETTINGS } from '../../contracts/run-host/local.ts'

const messageOf = (...parts: readonly Part[]): Message => ({ messageId: 'm', role: 'user', parts })

const kinds = fc.constantFrom<InputRequest['kind']>('approval', 'question', 'client_tool')
const schemas = fc.constantFrom(undefined, { type: 'string' }, { type: 'number' }, {}, true, 'odd', null)
const requests = fc.uniqueArray(
  fc.record({ id: fc.uuid(), kind: kinds, schema: schemas, digest: fc.constant('d') }),
  { selector: ({ id }) => id, maxLength: 5 },
)
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ text: fc.string() }),
  fc.record({ raw: fc.base64String() }),
  fc.record({ data: fc.jsonValue() }),
)

describe('a message', () => {
  it('answers by its text the only open question that takes text, and never anything else', () => {
    fc.assert(
      fc.property(requests, fc.array(part, { minLength: 1, maxLength: 4 }), (open, parts) => {
        const answers = answersIn(messageOf(...parts), open)
        if (answers.length === 0) return
        expect(answers).toHaveLength(1)
        const questions = open.filter(({ kind }) => kind === 'question')
        expect(answers.map(({ id }) => id)).toEqual(questions.map(({ id }) => id))
        expect(answers[0]).toEqual({
          id: questions[0]?.id,
          value: parts.map(({ text }) => text).join('\n'),
        })
        expect(questions[0]?.schema ?? { type: 'string' }).toEqual({ type: 'string' })
      }),
    )
  })

  it('gives the answers of its data as they are, or is refused as invalid parameters', () => {
    const answer = fc.oneof(
      fc.record({ id: fc.uuid(), value: fc.jsonValue() }),
      fc.record({ id: fc.uuid(), result: fc.jsonValue() }),
      fc.record({ id: fc.uuid(), decision: fc.constantFrom('approve', 'deny') }),
    )
    const given = fc.oneof(fc.array(answer, { minLength: 1, maxLength: 3 }), fc.jsonValue())
    fc.assert(
      fc.property(requests, fc.array(given, { minLength: 1, maxLength: 3 }), (open, all) => {
        try {
          const parts = all.map(answers => ({ data: { answers } }))
          expect(answersIn(messageOf(...parts, { text: 'yes' }), open)).toEqual(all.flat())
        } catch (error) {
          if (!(error instanceof ServableError)) throw error
          expect(error.code).toBe('invalid_params')
        }
      }),
    )
  })
})

describe('a task that waits', () => {
  const owner = 'ann'
  const servable = asking.sizes as Target['servable']
  const target: Target = { kind: 'agent', name: 'sizes', servable }
  const settings = {
    ...SETTINGS,
    maxTasksPerOwner: 10,
    maxHistory: 100,
    push: undefined,
    onGivenUp: () => {},
  }
  const make = (store = memoryStore()) => ({
    store,
    host: createLocalTaskHost({ store, settings, retention: {}, targetOf: () => target }),
    kept: () => store.read(tx => tx.count(WAITING)),
  })
  const begin = async ({ host }: ReturnType<typeof make>, taskId: string, whose: string | null = owner) => {
    const message = messageOf({ text: 'shirt' })
    await host.deliver({ taskId, message, target, owner: whose, options: {}, mayWait: true })
    return host.settled(taskId, { owner: whose })
  }
  const say = ({ host }: ReturnType<typeof make>, taskId: string, text: string) =>
    host.deliver({
      taskId,
      message: messageOf({ text }),
      target: undefined,
      owner,
      options: {},
      mayWait: true,
    })

  it('keeps what it waits for until it goes on or is cancelled', async () => {
    const made = make()
    const [going, cancelled] = [crypto.randomUUID(), crypto.randomUUID()]
    for (const id of [going, cancelled]) await begin(made, id)
    expect(made.kept()).toBe(2)
    await say(made, going, 'M')
    const { status, artifacts } = await made.host.settled(going, { owner })
    expect([status.state, artifacts?.[0]?.parts]).toEqual(['completed', [{ text: 'shirt in M' }]])
    expect(made.kept()).toBe(1)
    await made.host.cancel(cancelled, { owner })
    expect(made.kept()).toBe(0)
  })

  it('takes what it waits for along, where it leaves to make room', async () => {
    const made = make()
    for (let count = 0; count < 13; count++) await begin(made, crypto.randomUUID(), null)
    expect(made.kept()).toBe(10)
  })

  it("that is nobody's stays so: what a stranger asked for is not done as whoever answers", async () => {
    const agent = new Agent({
      name: 'who',
      register: false,
      async *run(_, { ask, identity, userId }) {
        yield* ask('sure')
        yield `for ${identity} and ${userId}`
      },
    })
    const own: Target = { kind: 'agent', name: 'who', servable: agent as Target['servable'] }
    const host = createLocalTaskHost({
      ...{ store: memoryStore(), settings, retention: {}, targetOf: () => own },
    })
    const taskId = crypto.randomUUID()
    const send = (owner: string | null, target?: Target) => {
      const options = owner === null ? {} : { identity: owner, userId: owner }
      const message = { ...messageOf({ text: 'yes' }), messageId: crypto.randomUUID() }
      return host.deliver({ taskId, message, target, owner, options, mayWait: true })
    }
    await send(null, own)
    expect((await host.settled(taskId, { owner: null })).status.state).toBe('input-required')
    await send('bob')
    const { artifacts } = await host.settled(taskId, { owner: null })
    expect(artifacts?.[0]?.parts).toEqual([{ text: 'for undefined and undefined' }])
  })

  it('goes on from the run that waited: a step has the same key, and a turn its place', async () => {
    const keys: string[] = []
    const agent = new Agent({
      name: 'orders',
      register: false,
      async *run(_, { step }) {
        yield* step('order', async function* ({ idempotencyKey, ask }) {
          keys.push(idempotencyKey)
          yield* ask('size')
          yield* ask('colour')
        })
      },
    })
    const own: Target = { kind: 'agent', name: 'orders', servable: agent as Target['servable'] }
    const host = createLocalTaskHost({ store: memoryStore(), settings, retention: {}, targetOf: () => own })
    const taskId = crypto.randomUUID()
    for (const target of [own, undefined, undefined]) {
      const message = { ...messageOf({ text: 'yes' }), messageId: crypto.randomUUID() }
      await host.deliver({ taskId, message, target, owner, options: {}, mayWait: true })
      await host.settled(taskId, { owner })
    }
    expect(keys).toHaveLength(3)
    expect(new Set(keys).size).toBe(1)
  })

  it('is answered by another host over the same store, as after a restart', async () => {
    const one = make()
    const taskId = crypto.randomUUID()
    const asked = await begin(one, taskId)
    const other = make(one.store)
    expect(await other.host.settled(taskId, { owner })).toEqual(asked)
    await say(other, taskId, 'L')
    expect((await other.host.settled(taskId, { owner })).status.state).toBe('completed')
  })
})
