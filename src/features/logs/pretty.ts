/**
 * A log for people: a line for each entry, aligned, with colors on a terminal.
 *
 * @module
 */

import { wantsColors } from '../../base/environment.ts'
import type { ErrorStory } from '../../http/error-story.ts'
import type { Log, LogEntry } from '../../http/log.ts'
import { type Paint, painter, type Style, shown, shownLines, shownMs, shownNumbers } from './shown.ts'

/** Options of the readable log. */
export interface PrettyLogOptions {
  /** Whether text is colored. Default: on if the output is a terminal and `NO_COLOR` is not set. */
  readonly colors?: boolean
  /** Writes the text of an entry, which may have several lines. Default: `console.log`, `console.warn` and `console.error`. */
  readonly write?: (text: string, level: LogEntry['level']) => void
}

/** Most characters of a value, of a line and of a stack. */
const MAX_VALUE = 300
const MAX_LINE = 2000
const MAX_STACK = 10_000

/**
 * Makes a readable log. Requests, runs and the start have their own formats; other entries are shown with their fields. Control
 * characters are shown as `\u{1b}`, and long values are cut. In development the servers of `servable/node`, `bun` and `deno` use
 * it by default.
 *
 * @example
 * createHandler({ agents, logger: prettyLog() })
 */
export function prettyLog({ colors = wantsColors(), write = toConsole }: PrettyLogOptions = {}): Log {
  const paint = painter(colors)
  return entry => {
    const form = FORMS[entry.event] ?? (entry.channel === 'audit' ? auditText : otherText)
    write(textBy(form, entry, paint), entry.level)
  }
}

/** An entry of other code may have values that its format cannot handle. */
function textBy(form: Form, entry: LogEntry, paint: Paint): string {
  try {
    return form(entry, paint)
  } catch {
    return otherText(entry, paint)
  }
}

function toConsole(text: string, level: LogEntry['level']): void {
  if (level === 'error') console.error(text)
  else if (level === 'warn') console.warn(text)
  else console.log(text)
}

type Form = (entry: LogEntry, paint: Paint) => string

const FORMS: Readonly<Partial<Record<string, Form>>> = {
  request: requestText,
  'run.ended': runText,
  'service.started': startText,
}

/** The common columns of requests, runs and acts: time, subject, outcome, duration, and the rest. */
function lineOf(
  paint: Paint,
  [what, outcome, style]: readonly [what: string, outcome: string, style: Style],
  durationMs: unknown,
  rest: readonly (string | false | undefined)[],
): string {
  const time = typeof durationMs === 'number' ? shownMs(durationMs) : ''
  return [
    paint('dim', clock()),
    shown(what, MAX_VALUE).padEnd(8),
    paint(style, shown(outcome, MAX_VALUE).padEnd(9)),
    time.padStart(10),
    ...rest.filter(text => text),
  ].join('  ')
}

/** The local time of day. */
function clock(): string {
  return new Date().toTimeString().slice(0, 8)
}

function requestText({ method, path, status, durationMs, identity, runId }: LogEntry, paint: Paint): string {
  const style: Style = Number(status) >= 500 ? 'red' : Number(status) >= 400 ? 'yellow' : 'green'
  return lineOf(paint, [textOf(method), textOf(status), style], durationMs, [
    textOf(path, MAX_LINE),
    facts(paint, { run: runId, identity }),
  ])
}

function runText(entry: LogEntry, paint: Paint): string {
  const { kind, name, runId, status, finishReason, code, durationMs, model, transport, identity } = entry
  const { usage, cost, toolCalls } = entry as ShownRun
  const why = code ?? (finishReason === 'stop' ? undefined : finishReason)
  return lineOf(
    paint,
    [textOf(kind), WORDS[`${status}`] ?? textOf(status), STYLES[`${status}`] ?? 'yellow'],
    durationMs,
    [
      paint('bold', textOf(name)),
      why !== undefined && textOf(why),
      shownNumbers({ usage, cost, toolCalls }),
      facts(paint, { run: runId, transport, model, identity }),
    ],
  )
}

type ShownRun = Omit<Parameters<typeof shownNumbers>[0], 'durationMs'>

const STYLES: Readonly<Partial<Record<string, Style>>> = { completed: 'green', failed: 'red' }

/** Short forms of statuses that are too long for their column. */
const WORDS: Readonly<Partial<Record<string, string>>> = { input_required: 'waits' }

function auditText({ event, outcome, actor, target, ip, requestId }: LogEntry, paint: Paint): string {
  const isOk = outcome === 'ok'
  return lineOf(paint, ['audit', textOf(outcome), isOk ? 'green' : 'yellow'], undefined, [
    paint('bold', textOf(event)),
    textOf(target),
    facts(paint, { actor: actor ?? 'nobody', ip, request: requestId }),
  ])
}

function startText(entry: LogEntry, paint: Paint): string {
  const { version, url, missing, serves, parts, access, state } = entry
  const rows: Readonly<Record<string, unknown>> = { serves, parts, access, state, missing }
  const lines = Object.entries(rows).map(([name, value]) => {
    const text = Array.isArray(value) ? value.map(each => textOf(each)).join(', ') : textOf(value)
    return text === ''
      ? ''
      : `\n  ${paint(name === 'missing' ? 'yellow' : 'dim', name.padEnd(8))} ${shown(text, MAX_LINE)}`
  })
  return `${paint('bold', `servable ${textOf(version)}`)}  ${textOf(url)}${lines.join('')}`
}

/** Any other entry: the event, its message, its fields, and the position of an error. */
function otherText({ level, event, message, error, ...fields }: LogEntry, paint: Paint): string {
  const style: Style = level === 'error' ? 'red' : level === 'warn' ? 'yellow' : 'dim'
  const head = [
    paint('dim', clock()),
    paint(style, level.padEnd(8)),
    paint('bold', textOf(event)),
    textOf(message, MAX_LINE),
    facts(paint, fields),
  ]
  return head.filter(text => text !== '').join('  ') + stackText(error, paint)
}

function stackText(error: unknown, paint: Paint): string {
  const { stack } = Object(error) as Partial<ErrorStory>
  if (typeof stack !== 'string') return ''
  return paint('dim', `\n${shownLines(stack.slice(0, MAX_STACK)).replace(/^/gm, '  ')}`)
}

/** Fields that have a value, as `name=value`. */
function facts(paint: Paint, fields: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  const text = given.map(([name, value]) => `${shown(name, MAX_VALUE)}=${textOf(value)}`).join(' ')
  return text === '' ? '' : paint('dim', shown(text, MAX_LINE))
}

/** A value on one line. */
function textOf(value: unknown, max = MAX_VALUE): string {
  if (typeof value === 'string') return shown(value, max)
  if (value === undefined || value === null) return ''
  try {
    return shown(JSON.stringify(value) ?? String(value), max)
  } catch {
    return typeof value
  }
}
