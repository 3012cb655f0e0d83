/** Plays one run to its end: starts it, reads it, and answers it if it asks. */
import type { RunRecord } from '../../../src/index.ts'
import type { Fleet } from './fleet.ts'
import { follow, insist, type Line, post, type Reading } from './reader.ts'

export const KINDS = ['order', 'asks', 'helper', 'approved'] as const

/** `approved` is a `helper` with a tool that a person approves. */
export type RunKind = (typeof KINDS)[number]

/** A run that has ended, as clients saw it. */
export interface PlayedRun {
  readonly record: RunRecord
  readonly readings: readonly Reading[]
  /** The log after the end. */
  readonly log: readonly Line[]
}

/** A run with the one that goes on after its answer. */
export interface Played {
  readonly kind: RunKind
  readonly input: string
  readonly runs: readonly PlayedRun[]
  /** The answer that counts. */
  readonly answer?: unknown
  readonly answersSent: number
  readonly wrong: readonly string[]
}

const PATHS: Readonly<Record<RunKind, string>> = {
  order: '/api/workflows/order/run',
  asks: '/api/workflows/asks/run',
  helper: '/api/agents/helper/run',
  approved: '/api/agents/helper/run',
}

/** Each second run has two clients that read it as it goes. */
const SHARE_READ = 0.5

export async function play(
  fleet: Fleet,
  { kind, input }: Pick<Played, 'kind' | 'input'>,
  random: () => number,
): Promise<Played> {
  const wrong: string[] = []
  const body = { input }
  const begin = () => post(fleet, PATHS[kind], body, { 'idempotency-key': input })
  const starts = await Promise.all(random() < 0.5 ? [begin(), begin()] : [begin()])
  const ids = new Set(starts.map(({ body }) => body.id))
  const [id] = ids
  if (ids.size !== 1 || id === undefined) {
    const runs: PlayedRun[] = []
    return { kind, input, runs, answersSent: 0, wrong: [`${input}: started ${JSON.stringify(starts)}`] }
  }
  const first = await read(fleet, id, random)
  if (kind === 'order' || kind === 'helper') return { kind, input, runs: [first], answersSent: 0, wrong }
  const given = await answer(fleet, first.record, random)
  wrong.push(...given.wrong)
  const next = given.next === undefined ? [] : [await read(fleet, given.next, random)]
  const again = given.next === undefined ? undefined : await post(fleet, given.path, given.body)
  const { body: record } = await insist(fleet, `/api/runs/${id}`)
  if (again?.body.id !== given.next) wrong.push(`${id}: its answer again gave ${JSON.stringify(again)}`)
  return {
    ...{ kind, input, runs: [{ ...first, record }, ...next], wrong },
    answersSent: given.sent + 1,
    answer: given.value,
  }
}

async function read(fleet: Fleet, id: string, random: () => number): Promise<PlayedRun> {
  const place = Math.floor(random() * 1000)
  const count = random() < SHARE_READ ? 2 : 1
  const readings = await Promise.all(
    Array.from({ length: count }, (_, index) => follow(fleet, id, place + index)),
  )
  // Pages of events may have joined pieces by now. A stream tells them as they were.
  const { lines: log } = await follow(fleet, id, place + count)
  return { record: (await insist(fleet, `/api/runs/${id}`)).body, readings, log }
}

interface Given {
  readonly path: string
  readonly body: unknown
  readonly value: unknown
  readonly next: string | undefined
  readonly sent: number
  readonly wrong: readonly string[]
}

/** Two clients answer at once, by different processes: with the same answer, or each with its own. */
async function answer(fleet: Fleet, { id, requests = [] }: RunRecord, random: () => number): Promise<Given> {
  const path = `/api/runs/${id}/answers`
  const [request] = requests
  const isQuestion = request?.kind === 'question'
  const drawn = Math.floor(random() * 1000)
  const differs = random() < 0.5 ? 1 : 0
  const bodies = [drawn, drawn + differs].map(value => ({
    answers: [{ id: request?.id, ...(isQuestion ? { value } : { decision: 'approve' }) }],
  }))
  const answers = await Promise.all(bodies.map(body => post(fleet, path, body)))
  const accepted = answers.flatMap(({ status, body }, index) => (status < 300 ? [{ body, index }] : []))
  const refused = answers.filter(({ status }) => status >= 300)
  const nexts = new Set(accepted.map(({ body }) => body.id))
  const mustAccept = isQuestion && differs === 1 ? 1 : 2
  const isRight =
    accepted.length === mustAccept &&
    nexts.size === 1 &&
    refused.every(({ body }) => body.code === 'already_answered')
  const index = accepted[0]?.index ?? 0
  return {
    path,
    body: bodies[index],
    value: isQuestion ? drawn + index * differs : undefined,
    next: accepted[0]?.body.id,
    sent: bodies.length,
    wrong: isRight ? [] : [`${id}: two answers gave ${JSON.stringify(answers)}`],
  }
}
