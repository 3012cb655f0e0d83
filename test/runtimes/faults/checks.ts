/** What must hold of runs that met faults. */
import type { RunEvent } from '../../../src/index.ts'
import type { Absences, Done, FaultEffect } from './effects.ts'
import type { Played, PlayedRun, RunKind } from './play.ts'
import { isEnd, type Line } from './reader.ts'

/** What each kind of run does. */
const MUST_DO: Readonly<Record<RunKind, string>> = {
  order: 'again,again,first,last,left,read,right,second',
  asks: 'after,before',
  helper: 'model-0,model-1,model-2,pack,pick,pick,ship',
  approved: 'model-0,model-1,model-2,pack,pick,pick,ship',
}

/** What a run takes for done in the end. */
interface Believed {
  readonly did: readonly Done[]
  readonly answer?: unknown
}

/** Pieces that were joined since have the time of the first one. */
const untimed = (data: string): string => data.replace(/,"at":\d+}$/, '}')

const textIn = (lines: readonly Line[]): string =>
  lines.map(({ id, data }) => `${id} ${untimed(data)}`).join('\n')

/** Each reader saw the same events in the same order, none is missing, and the last one is the only end. */
function wrongOrder({ record: { id }, readings, log }: PlayedRun): string[] {
  const wrong = readings.flatMap(({ wrong }) => wrong ?? [])
  const all = textIn(log)
  if (log.some((line, index) => line.id !== index + 1)) wrong.push(`${id}: its log is not whole: ${all}`)
  const ends = log.filter(isEnd).length
  if (ends !== 1 || !log.slice(-1).every(isEnd)) wrong.push(`${id}: ${ends} ends: ${all}`)
  for (const { lines, wrong: failed } of readings) {
    if (failed === undefined && textIn(lines) !== all)
      wrong.push(`${id}: a reader saw\n${textIn(lines)}\ninstead of\n${all}`)
  }
  return wrong
}

/** Nothing that was complete is told again, and the text is that of the result. */
function wrongTelling({ record, log }: PlayedRun): string[] {
  const events = log.map(({ data }) => JSON.parse(data) as RunEvent)
  const done = events.flatMap(event => {
    if (event.type === 'step' && event.status === 'completed') return [event.id ?? event.name]
    return event.type === 'tool_call_end' ? [event.toolCallId] : []
  })
  const twice = done.filter((each, index) => done.indexOf(each) !== index)
  const since = events.findLastIndex(({ type }) => type === 'resumed')
  const text = events.slice(since + 1).map(event => (event.type === 'text' ? event.text : ''))
  return [
    ...twice.map(each => `${record.id}: ${each} was complete twice in\n${textIn(log)}`),
    ...(record.result === undefined || text.join('') === record.result.text
      ? []
      : [`${record.id}: its text is ${text.join('')}, its result ${record.result.text}, in\n${textIn(log)}`]),
  ]
}

/** Each run of the chain has the end that it must have. */
function wrongEnds({ kind, runs }: Played): string[] {
  const statuses = kind === 'order' || kind === 'helper' ? ['completed'] : ['input_required', 'completed']
  const [first, next] = runs.map(({ record }) => record)
  const isLinked = first?.continuedBy === next?.id && next?.continuedFrom === (next && first?.id)
  const are = runs.map(({ record }) => record.status).join()
  if (are === statuses.join() && isLinked) return []
  const records = runs.map(({ record: { result: _, requests: __, ...record } }) => record)
  return [`${kind} ${JSON.stringify(records)}: must be ${statuses}`]
}

/** What a run takes for done was done, and not again after that. */
function wrongEffects(played: Played, effects: readonly FaultEffect[], absences: Absences): string[] {
  const { kind, input, runs, answer } = played
  const text = runs.at(-1)?.record.result?.text ?? ''
  if (!text.includes('|{')) return [`${input}: it said ${text}`]
  const believed = JSON.parse(text.slice(text.lastIndexOf('|{') + 1)) as Believed
  const wrong: string[] = []
  if (believed.answer !== answer) wrong.push(`${input}: its answer is ${believed.answer}, not ${answer}`)
  const names = new Map(effects.map(({ key, name }) => [key, name]))
  const did = believed.did.map(({ key }) => names.get(key)).toSorted()
  const must = MUST_DO[kind]
  if (did.join() !== must || [...names.values()].toSorted().join() !== must)
    wrong.push(`${input}: it did ${did}, and ${[...names.values()]}`)
  for (const { key, value } of believed.did) {
    const kept = effects.find(effect => effect.key === key && effect.value === value)
    if (kept === undefined) wrong.push(`${key}: nothing gave ${value}`)
    else wrong.push(...effects.flatMap(effect => wrongAgain(effect, kept, absences)))
  }
  return wrong
}

/** An effect that was not kept: its process lost the run before the record, or did late what it had begun. */
function wrongAgain(effect: FaultEffect, kept: FaultEffect, absences: Absences): string[] {
  if (effect === kept || effect.key !== kept.key) return []
  const isExcused =
    effect.began <= kept.began
      ? absences.hasLost(effect.generation, effect.began, kept.began)
      : absences.isLate(effect.generation, effect.began)
  return isExcused ? [] : [`${kept.key}: ${JSON.stringify(effect)} beside ${JSON.stringify(kept)}`]
}

/** A run is one process's until that has lost it. */
function wrongOwners(input: string, effects: readonly FaultEffect[], absences: Absences): string[] {
  return effects.flatMap((effect, index) => {
    const before = effects[index - 1] ?? effect
    const isExcused =
      before.generation === effect.generation ||
      absences.hasLost(before.generation, before.began, effect.began) ||
      absences.isLate(before.generation, before.began) ||
      absences.isLate(effect.generation, effect.began)
    return isExcused ? [] : [`${input}: ${JSON.stringify(effect)} while ${JSON.stringify(before)}`]
  })
}

/** All that is wrong with a run. `effects` are those of the run alone. */
export function wrongWith(played: Played, effects: readonly FaultEffect[], absences: Absences): string[] {
  const inOrder = effects.toSorted((one, other) => one.began - other.began)
  // Nothing else can be said of a run that never had an end.
  if (played.runs.length === 0) return [...played.wrong]
  return [
    ...played.wrong,
    ...played.runs.flatMap(run => [...wrongOrder(run), ...wrongTelling(run)]),
    ...wrongEnds(played),
    ...wrongEffects(played, inOrder, absences),
    ...(played.runs.length > 1 ? [] : wrongOwners(played.input, inOrder, absences)),
  ]
}
