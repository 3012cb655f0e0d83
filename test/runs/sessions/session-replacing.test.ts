/** A message that takes the place of an earlier one of its session, on a branch of its own. */

import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { SessionKey } from '../../../src/agents/memory.ts'
import { deferred } from '../../../src/base/wake.ts'
import { deleteBranch, moveHead } from '../../../src/features/sessions/branches.ts'
import { copyTurns, pasteTurns } from '../../../src/features/sessions/turns.ts'
import { Agent, type Turn, textOf } from '../../../src/index.ts'
import { FEEDBACK, putFeedback } from '../../../src/runs/feedback.ts'
import { appendSession, readSession, summarizeSession } from '../../../src/runs/sessions/session-memory.ts'
import {
  GONE,
  idOf,
  LEASE_MS,
  MEMBERS,
  SESSIONS,
  type Session,
  type SessionEntry,
  TURNS,
} from '../../../src/runs/sessions/session-record.ts'
import { enterSession, leaveSession, turnsOf } from '../../../src/runs/sessions/session-turns.ts'
import { REQUESTS } from '../../../src/runs/stored/journal.ts'
import { sqliteState } from '../../../src/runtimes/sqlite.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { newFolder } from '../../contracts/run-host/folder.ts'
import { eventually } from '../../eventually.ts'
import { key, serve, session, settings, turn } from './session-kit.ts'

const CHANGED = expect.objectContaining({ code: 'session_changed' })

const wait = (ms: number) => vi.setSystemTime(Date.now() + ms)

afterEach(() => vi.useRealTimers())

/** A session with the turns of some runs; the message of each has the run's id. */
async function sessionOf(...runs: readonly string[]) {
  const made = session()
  const enter = (runId: string, replaces?: string, goesOn = false) =>
    made.enter(runId, goesOn, { messageId: runId, replaces })
  for (const run of runs) {
    enter(run)
    await made.leave(run, { status: 'completed', messageId: run, endedAt: 1 })
  }
  return { ...made, enter, ids: () => made.turns().map(({ runId }) => runId) }
}

describe('a turn that replaces others', () => {
  it('begins a branch once: not when its place is renewed, and not when it goes on', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { enter, leave, ids, turns } = await sessionOf('a', 'b', 'c')
    expect(enter('b2', 'b')).toMatchObject({ place: 0 })
    expect(ids()).toEqual(['a', 'b2'])
    await leave('b2', { status: 'completed', messageId: 'b' })
    enter('b3', 'b')
    expect(ids()).toEqual(['a', 'b3'])
    wait(LEASE_MS - 1)
    // The message that it replaces is not there any more.
    expect(enter('b3', 'b')).toMatchObject({ place: 0 })
    wait(LEASE_MS)
    expect(enter('b3', 'b', true)).toMatchObject({ place: 0 })
    expect(turns()).toMatchObject([{ runId: 'a' }, { runId: 'b3', status: 'running', messageId: 'b3' }])
    expect(turns()[1]).not.toHaveProperty('replaces')
  })

  it('waits until the one at work has ended, and replaces that too', async () => {
    const { enter, leave, ids } = await sessionOf('a')
    enter('b')
    expect(enter('a2', 'a')).toMatchObject({ place: 1 })
    expect(ids()).toEqual(['a', 'b'])
    await leave('b')
    expect(enter('a2', 'a')).toMatchObject({ place: 0 })
    expect(ids()).toEqual(['a2'])
  })

  it('begins with the first turn of a message that was sent twice', async () => {
    const { enter, leave, ids } = await sessionOf('a', 'b', 'c')
    enter('b2')
    await leave('b2', { status: 'completed', messageId: 'b' })
    enter('d', 'b')
    expect(ids()).toEqual(['a', 'd'])
  })

  it('changes nothing where the message is not there', async () => {
    const { enter, ids, store } = await sessionOf('a', 'b')
    const all = () => store.read(tx => tx.get(SESSIONS, idOf(key)))
    const before = all()
    expect(() => enter('c', 'x')).toThrow(CHANGED)
    expect(all()).toEqual(before)
    expect(ids()).toEqual(['a', 'b'])
    expect(() => session().enter('c', false, { replaces: 'x' })).toThrow(CHANGED)
  })

  it('leaves one that was thought dead on its own branch', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { enter, beat, leave, ids, count, store } = await sessionOf('a')
    enter('late')
    wait(LEASE_MS)
    enter('a2', 'a')
    await leave('a2', { status: 'completed', endedAt: 1 })
    expect(count(GONE)).toBe(0)
    expect(beat('late')).toBe(true)
    await leave('late', { status: 'completed', text: 'after all' })
    expect(ids()).toEqual(['a2'])
    const branch = store.read(tx => turnsOf(tx, key, 'late'))
    expect(branch).toMatchObject([{ runId: 'a' }, { runId: 'late', status: 'completed', text: 'after all' }])
  })

  it('leaves one alone that waits to go on behind it', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { enter, leave, ids, turns, store } = await sessionOf('a')
    enter('dies')
    wait(LEASE_MS)
    enter('b')
    expect(enter('a2', 'a')).toMatchObject({ place: 1 })
    expect(enter('dies', undefined, true)).toMatchObject({ place: 2 })
    await leave('b')
    enter('a2', 'a')
    expect(ids()).toEqual(['a2'])
    await leave('a2')
    expect(enter('dies', undefined, true)).toMatchObject({ place: 0 })
    await leave('dies')
    expect(turns()).toMatchObject([{ runId: 'a2', status: 'completed' }])
    expect(store.read(tx => turnsOf(tx, key, 'b'))).toMatchObject([
      { runId: 'a' },
      { runId: 'dies', status: 'completed' },
      { runId: 'b' },
    ])
  })

  it('keeps a summary that stands for earlier turns alone, and takes none that comes late', async () => {
    const { enter, leave, store, read } = await sessionOf('a', 'b', 'c')
    const sum = (text: string, upTo: number) =>
      store.write(tx => summarizeSession(tx, key, { text, upTo }, settings))
    const told = () => Object(read()).summary
    sum('of a', 1)
    enter('c2', 'c')
    await leave('c2', { status: 'completed', messageId: 'c2' })
    expect(told()).toBe('of a')
    // Someone had read the turns before the third one was replaced.
    sum('of a, b and c', 3)
    expect(told()).toBe('of a')
    sum('of a, b and c2', 4)
    expect(told()).toBe('of a, b and c2')
    enter('b2', 'b')
    expect(told()).toBeUndefined()
  })
})

/** An entry of a session. */
interface Line {
  readonly seq: number
  /** The entry before it; -1 for none. */
  readonly after: number
  readonly run?: string
  readonly messageId?: string
  status?: string
  /** What a model is told of it, if that was appended. */
  message?: string | undefined
  isOpen: boolean
  /** Whether it came after the newest one, and no other came there. */
  isPlain: boolean
}

/** A tree that does what a session should do. */
class Model {
  lines: Line[] = []
  next = 1
  summary: number | undefined
  members = 0
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  get closed(): Line[] {
    return this.lines.filter(({ isOpen }) => !isOpen)
  }

  /** The last entry of the branch that was chosen. Undefined: the one that began last. */
  chosen: number | undefined

  /** The last entry of the branch that counts. */
  get head(): number {
    return this.chosen ?? this.lines.at(-1)?.seq ?? -1
  }

  /** The entries up to one, newest first. */
  pathTo(seq: number): Line[] {
    const line = this.lines.find(each => each.seq === seq)
    if (line === undefined) return []
    // One that came after the newest may outlive that, if an older turn is at work.
    const before = line.isPlain ? this.lines.findLast(each => each.seq < seq)?.seq : line.after
    return [line, ...this.pathTo(before ?? -1)]
  }

  /** Puts one away; whole branches leave first, and then the oldest. */
  close(line: Line): void {
    line.isOpen = false
    if (!this.lines.includes(line)) this.lines.push(line)
    this.lines.sort((a, b) => a.seq - b.seq)
    while (this.closed.length > this.#max) {
      const kept = new Set([this.head, ...this.openSeqs].flatMap(seq => this.pathTo(seq)))
      const first = this.lines.find(each => !kept.has(each))
      if (first === undefined) this.drop(this.closed[0])
      else for (const each of this.below(first)) this.drop(each)
    }
  }

  get openSeqs(): number[] {
    return this.lines.flatMap(({ seq, isOpen }) => (isOpen ? [seq] : []))
  }

  /** An entry and all that comes after it. */
  below(first: Line): Line[] {
    return this.lines.filter(({ seq }) => this.pathTo(seq).includes(first))
  }

  drop(line: Line | undefined): void {
    this.lines = this.lines.filter(each => each !== line)
  }

  settle(): void {
    for (const line of this.lines.filter(({ isOpen }) => isOpen)) {
      line.status = 'interrupted'
      this.close(line)
    }
  }

  /** The entry before a message. Undefined where the message is not there. */
  beforeMessage(messageId: string): number | undefined {
    const has = (line: Line) => line.messageId === messageId
    const first = this.pathTo(this.head).findLast(has) ?? this.lines.find(has)
    if (first === undefined) return undefined
    const { summary = -1 } = this
    return this.pathTo(first.seq)[1]?.seq ?? (summary < first.seq ? summary : -1)
  }

  /** Makes a branch the one that counts. */
  choose(seq: number | undefined): void {
    if (seq === undefined || !this.hasSummaryOf(seq)) this.summary = undefined
    this.chosen = seq === this.lines.at(-1)?.seq ? undefined : seq
  }

  /** Begins an entry after one. */
  begin(after: number, about: Partial<Line>): Line {
    if (after !== this.head && !this.hasSummaryOf(after)) this.summary = undefined
    this.chosen = undefined
    const isPlain = after === (this.lines.at(-1)?.seq ?? -1)
    const beside = isPlain ? undefined : this.lines.find(({ seq }) => seq > after)
    if (beside?.isPlain) {
      beside.isPlain = false
      Object.assign(beside, { after })
    }
    return { seq: this.next++, after, isOpen: false, isPlain, ...about }
  }

  /** Whether the summary is of the entries up to one, or of older ones that have left. */
  hasSummaryOf(seq: number): boolean {
    const { summary } = this
    const path = this.pathTo(seq)
    const oldest = path.at(-1)
    if (summary === undefined || path.some(each => each.seq === summary)) return true
    return oldest === undefined ? seq === summary : oldest.after !== -1 && summary < oldest.seq
  }

  copy(): Model {
    return Object.assign(new Model(this.#max), { ...this, lines: this.lines.map(line => ({ ...line })) })
  }
}

type Step =
  | {
      readonly does: 'say'
      readonly id: number
      readonly replaces?: number | undefined
      /** A turn by its place, after which the new one comes. */
      readonly from?: number | undefined
      readonly ends: string
    }
  | {
      readonly does: 'append' | 'remember' | 'leave late' | 'rate' | 'sum up' | 'fork' | 'choose' | 'delete'
      readonly nth: number
    }

const id = fc.integer({ min: 0, max: 5 })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('say' as const),
      id,
      replaces: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, id),
      from: fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, fc.nat({ max: 9 })),
      ends: fc.constantFrom('completed', 'completed', 'failed', 'cut', 'dies'),
    }),
  },
  fc.record({
    does: fc.constantFrom('append', 'remember', 'leave late', 'rate', 'sum up', 'fork', 'choose', 'delete'),
    nth: fc.nat({ max: 9 }),
  }),
)

/** Does one thing after the other in a session and in a tree, and compares them each time. */
class Both {
  key: SessionKey = { owner: 'ann', place: ['agent:a'], sessionId: 's0' }
  model: Model
  dead: string[] = []
  /** Dead runs whose turns were deleted. */
  gone = new Set<string>()
  forks = 0
  runs = 0
  readonly store = memoryStore()
  readonly settings: typeof settings

  constructor(maxTurns: number) {
    this.settings = { ...settings, maxTurns }
    this.model = new Model(maxTurns)
  }

  do(step: Step): void {
    if (step.does === 'say') this.#say(step)
    else if (step.does === 'append') this.#append()
    else if (step.does === 'remember') this.#remember()
    else if (step.does === 'leave late') this.#leaveLate(step.nth)
    else if (step.does === 'rate') this.#rate(step.nth)
    else if (step.does === 'sum up') this.#sumUp(step.nth)
    else if (step.does === 'choose') this.#choose(step.nth)
    else if (step.does === 'delete') this.#delete(step.nth)
    else this.#fork(step.nth)
    this.#compare()
  }

  #turn(runId: string, more: Partial<Turn> = {}): Turn {
    return { ...turn(runId), ...more }
  }

  #turnAt(nth: number): Line | undefined {
    const turns = this.model.lines.filter(({ run }) => run !== undefined)
    return turns[nth % Math.max(turns.length, 1)]
  }

  #choose(nth: number): void {
    const line = this.#turnAt(nth)
    if (line?.run === undefined) return
    const head = line.run
    wait(LEASE_MS)
    expect(this.store.write(tx => moveHead(tx, this.key, { head }))).toBe(true)
    this.model.choose(this.model.below(line).at(-1)?.seq)
  }

  #delete(nth: number): void {
    const line = this.#turnAt(nth)
    if (line?.run === undefined) return
    const { run } = line
    wait(LEASE_MS)
    this.store.write(tx => deleteBranch(tx, this.key, run))
    const { model } = this
    const leaving = model.below(line)
    const last = leaving.some(({ seq }) => seq === model.head) ? model.pathTo(line.seq)[1]?.seq : model.head
    for (const each of leaving) {
      if (each.status === 'interrupted' && each.run !== undefined) this.gone.add(each.run)
      model.drop(each)
    }
    model.choose(last)
  }

  #say({ id, replaces, from, ends }: Step & { does: 'say' }): void {
    const runId = `run-${this.runs++}`
    const messageId = `m${id}`
    const asked = replaces === undefined ? undefined : `m${replaces}`
    const after = this.model.copy()
    after.settle()
    const branchFrom = asked === undefined && from !== undefined ? this.#turnAt(from)?.run : undefined
    const there = after.lines.find(({ run }) => run === branchFrom)
    const before =
      asked !== undefined ? after.beforeMessage(asked) : branchFrom === undefined ? after.head : there?.seq
    const enter = () =>
      this.store.write(tx =>
        enterSession(
          tx,
          this.key,
          { ...this.#turn(runId, { messageId }), replaces: asked, branchFrom },
          this.settings,
        ),
      )
    if (before === undefined) return expect(enter).toThrow(CHANGED)
    expect(enter()).toMatchObject({ place: 0 })
    this.model = after
    const line = after.begin(before, { run: runId, messageId, status: 'running', isOpen: true })
    after.lines.push(line)
    if (ends === 'dies') {
      line.status = 'interrupted'
      this.dead.push(runId)
      wait(LEASE_MS)
      return
    }
    const end = { messageId, status: ends as Turn['status'], endedAt: 1 }
    this.store.write(tx =>
      leaveSession(tx, this.key, this.#turn(runId, end), { messages: [runId] }, this.settings),
    )
    line.status = ends
    line.message = runId
    after.close(line)
  }

  #append(): void {
    this.store.write(tx => appendSession(tx, this.key, { messages: ['x'] }, this.settings))
    this.model.close(this.model.begin(this.model.head, { message: 'x' }))
  }

  #remember(): void {
    const member = { ...this.key, member: ['agent:m'] }
    this.store.write(tx => appendSession(tx, member, { messages: ['x'] }, this.settings))
    this.model.members = 1
  }

  #leaveLate(nth: number): void {
    const [runId] = this.dead.splice(nth % Math.max(this.dead.length, 1), 1)
    if (runId === undefined) return
    const end = this.#turn(runId, { status: 'cut', endedAt: 1 })
    this.store.write(tx => leaveSession(tx, this.key, end, undefined, this.settings))
    if (this.gone.has(runId)) return
    const line = this.model.lines.find(({ run }) => run === runId)
    // The oldest turns leave; what comes back of one is the newest.
    const back = line ?? this.model.begin(this.model.head, { run: runId })
    this.model.close(Object.assign(back, { status: 'cut', message: undefined }))
  }

  #rate(nth: number): void {
    const { closed } = this.model
    const seq = closed[nth % Math.max(closed.length, 1)]?.seq
    const partition = idOf(this.key)
    if (seq !== undefined)
      this.store.write(tx => putFeedback(tx, { id: `${partition}/${seq}`, partition }, { score: 1 }, {}))
  }

  #sumUp(nth: number): void {
    const upTo = nth + 1
    this.store.write(tx => summarizeSession(tx, this.key, { text: `${upTo}`, upTo }, this.settings))
    const { model } = this
    const isOnBranch = model.pathTo(model.head).some(({ seq }) => seq === upTo)
    if (isOnBranch && model.closed.some(({ seq }) => seq === upTo)) model.summary = upTo
  }

  #fork(nth: number): void {
    const turns = this.model.lines.filter(({ run }) => run !== undefined)
    const last = turns[nth]
    const copied = this.store.read(tx => copyTurns(tx, this.key, last?.run))
    if (copied === undefined || turns.length === 0) return
    this.key = { ...this.key, sessionId: `s${++this.forks}` }
    this.store.write(tx => pasteTurns(tx, this.key, copied, this.settings))
    this.dead = []
    const { model } = this
    const upTo = last?.seq ?? model.head
    const path = model.pathTo(upTo)
    const fork = new Model(this.settings.maxTurns)
    for (const line of path.toReversed()) fork.close({ ...line })
    fork.next = upTo + 1
    if (model.hasSummaryOf(upTo)) fork.summary = model.summary
    if (path.length === model.lines.length) fork.members = model.members
    this.model = fork
  }

  #compare(): void {
    const { key, model } = this
    const partition = idOf(key)
    const [session, stored, feedback, members, told, turns] = this.store.read(tx => [
      tx.get<Session>(SESSIONS, partition)?.value,
      tx.list<SessionEntry>(TURNS, { partition, limit: 1000 }),
      tx.list(FEEDBACK, { partition, limit: 1000 }),
      tx.count(MEMBERS, partition),
      readSession(tx, key, {}, this.settings),
      turnsOf(tx, key),
    ])
    const { count, length } = session ?? { count: 0, length: 0 }
    expect(stored.map(({ value }) => value.seq)).toEqual(model.closed.map(({ seq }) => seq).reverse())
    expect(count).toBe(stored.length)
    expect(length).toBe(stored.reduce((sum, { value }) => sum + JSON.stringify(value).length, 0))
    expect(turns.map(({ runId, status }) => [runId, status])).toEqual(
      model
        .pathTo(model.head)
        .reverse()
        .flatMap(({ run, status }) => (run === undefined ? [] : [[run, status]])),
    )
    expect(stored.map(each => each.id)).toEqual(expect.arrayContaining(feedback.map(each => each.id)))
    expect(members).toBe(model.members)
    expect(told.messages.filter(each => typeof each === 'string')).toEqual(
      model
        .pathTo(model.head)
        .reverse()
        .flatMap(({ message = [], isOpen }) => (isOpen ? [] : message)),
    )
    expect(told.summary).toBe(model.summary === undefined ? undefined : `${model.summary}`)
  }
}

describe('a session of any turns', () => {
  it('holds what a tree would, and counts what it holds', () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), fc.array(step, { maxLength: 30 }), (maxTurns, steps) => {
        const both = new Both(maxTurns)
        for (const each of steps) both.do(each)
      }),
      { numRuns: 500 },
    )
  })
})

/** Says what it is told, once its gate is open. */
function talking() {
  const gates = new Map<string, ReturnType<typeof deferred<void>>>()
  const run = async function* (input: Parameters<typeof textOf>[0]) {
    const text = textOf(input)
    yield `${text}.`
    await gates.get(text)?.promise
  }
  const close = (text: string) => {
    const gate = deferred<void>()
    gates.set(text, gate)
    return gate.resolve
  }
  return { run, close }
}

const inputsOf = (turns: readonly Turn[]) => turns.map(({ input }) => input)

describe('a run that replaces a message', () => {
  it('is asked for in a session alone', async () => {
    const { say, turns } = serve(() => 'ok')
    const history = [{ role: 'user', content: 'x' }]
    for (const wrong of [
      { sessionId: undefined },
      { history },
      { memory: 'client' },
      { memory: 'client', history },
      { replaces: '' },
      { replaces: 'x'.repeat(501) },
      { replaces: 5 },
    ]) {
      const told = await say('hi', { replaces: 'm1', ...wrong })
      expect([told.status, told.code, told.detail], JSON.stringify(wrong)).toEqual([
        ...[400, 'invalid_body', expect.stringContaining('`replaces`')],
      ])
    }
    expect(turns()).toEqual([])
  })

  it('is 409 where the message is gone, in each form of an answer', async () => {
    const { say, post, handler, turns } = serve(() => 'ok')
    await say('one', { messageId: 'm1' })
    const body = { input: 'two', replaces: 'gone' }
    const told = await say('two', body)
    expect(told).toMatchObject({ status: 409, code: 'session_changed' })
    expect(told.detail).toBe('The session has no such message')
    const stream = await (await post('agents/a/stream', body)).text()
    expect(stream).toContain('session_changed')
    const stored = await post('agents/a/run', { ...body, background: true })
    expect(stored.status).toBe(409)
    const record = await handler(new Request(`http://127.0.0.1/api/runs/${stored.headers.get('x-run-id')}`))
    expect(await record.json()).toMatchObject({ status: 'failed', error: { code: 'session_changed' } })
    expect(inputsOf(turns())).toEqual(['one'])
  })

  it('and another one of the same message are one after the other', async () => {
    const { run, close } = talking()
    const { say, turns } = serve(run)
    await say('one', { messageId: 'm1' })
    const open = close('first')
    const first = say('first', { messageId: 'm2', replaces: 'm1' })
    await eventually(() => expect(inputsOf(turns())).toEqual(['first']))
    const second = say('second', { messageId: 'm3', replaces: 'm1' })
    const third = say('third', { messageId: 'm4', replaces: 'm2' })
    open()
    expect(await first).toMatchObject({ text: 'first.' })
    // Its message has another branch meanwhile, and gets one more.
    expect(await second).toMatchObject({ text: 'second.' })
    expect(await third).toMatchObject({ text: 'third.' })
    expect(await say('fourth')).toMatchObject({ text: 'fourth.' })
    expect(inputsOf(turns())).toEqual(['third', 'fourth'])
  })

  it('stops the one at work with `interrupt`, and takes its place', async () => {
    const { run, close } = talking()
    const { say, turns } = serve(run, { sessions: { concurrency: 'interrupt' } })
    close('one')
    const first = say('one', { messageId: 'm1' })
    await eventually(() => expect(turns()).toHaveLength(1))
    expect(await say('again', { messageId: 'm1', replaces: 'm1' })).toMatchObject({ text: 'again.' })
    expect(await first).toMatchObject({ finishReason: 'cancelled' })
    expect(turns()).toMatchObject([{ input: 'again', messageId: 'm1', status: 'completed' }])
  })

  it('leaves a run alone that waits for answers: it goes on where it waited', async () => {
    const a = new Agent({
      name: 'a',
      register: false,
      async *run(input, { ask }) {
        yield textOf(input) === 'asks' ? `It is ${yield* ask('colour')}` : 'ok'
      },
    })
    const { say, post, turns, state } = serve(() => '', { agents: { a } })
    await say('one', { messageId: 'm1' })
    const { runId, requests } = await say('asks', { messageId: 'm2' })
    await say('two', { messageId: 'm3', replaces: 'm2' })
    expect(inputsOf(turns())).toEqual(['one', 'two'])
    const answers = [{ id: requests[0].id, value: 'red' }]
    const last = await (await post(`runs/${runId}/answers`, { answers })).json()
    expect(last).toMatchObject({ text: 'It is red' })
    expect(inputsOf(turns())).toEqual(['one', 'two'])
    expect(state.store.read(tx => turnsOf(tx, key, last.runId))).toMatchObject([
      { input: 'one' },
      { input: 'asks', runId },
      { input: 'asks', continuedFrom: runId, status: 'completed' },
    ])
    expect(await say('three')).toMatchObject({ text: 'ok' })
    expect(inputsOf(turns())).toEqual(['one', 'two', 'three'])
  })

  it('and goes on with answers, or runs again, begins no branch then', async () => {
    const a = new Agent({
      name: 'a',
      register: false,
      async *run(input, { ask }) {
        yield textOf(input) === 'asks' ? `It is ${yield* ask('colour')}` : 'ok'
      },
    })
    const { say, post, turns, state } = serve(() => '', { agents: { a }, runs: { keepInput: true } })
    await say('one', { messageId: 'm1' })
    const asking = { messageId: 'm1', replaces: 'm1', background: true }
    const { runId, requests } = await say('asks', asking)
    expect(inputsOf(turns())).toEqual(['asks'])
    expect(state.store.read(tx => JSON.stringify(tx.get(REQUESTS, runId)))).not.toContain('replaces')
    await say('two')
    const answers = [{ id: requests[0].id, value: 'red' }]
    expect(await (await post(`runs/${runId}/answers`, { answers })).json()).toMatchObject({
      text: 'It is red',
    })
    expect(inputsOf(turns())).toEqual(['asks', 'two', 'asks'])
    expect((await post(`runs/${runId}/retry`, {})).status).toBe(200)
    expect(inputsOf(turns())).toEqual(['asks', 'two', 'asks', 'asks'])
  })

  it('is of one process, and the message of another one', async () => {
    const folder = await newFolder()
    const { run, close } = talking()
    const agents = { a: new Agent({ name: 'a', run, register: false }) }
    const states = [0, 1].map(() => sqliteState({ path: join(folder.path, 'sessions.db') }))
    const [here, there] = states.map(state => serve(run, { agents, state }))
    const open = close('one')
    const first = here?.say('one', { messageId: 'm1' })
    const turns = () => states[1]?.store.read(tx => turnsOf(tx, key))
    await eventually(async () => expect(await turns()).toHaveLength(1))
    const second = there?.say('two', { messageId: 'm2', replaces: 'm1' })
    open()
    expect(await first).toMatchObject({ text: 'one.' })
    expect(await second).toMatchObject({ text: 'two.' })
    expect(await here?.say('three', { replaces: 'm1' })).toMatchObject({ text: 'three.' })
    expect(inputsOf((await turns()) ?? [])).toEqual(['three'])
    for (const { store } of states) store.close()
    await folder.remove()
  })
})
