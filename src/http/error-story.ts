/**
 * A thrown value for the log: names, texts and stacks, within bounds and without secrets. Clients, events and stores never see
 * it.
 *
 * @module
 */

import { messageOf, redact } from '../base/errors.ts'
import { withoutKeyText } from '../base/key-text.ts'
import { plain } from '../web/plain.ts'

/** A thrown value and its causes, as an entry of the log holds them. */
export interface ErrorStory {
  /** Its class, or the type of a value that is no error. */
  readonly name: string
  /** At most 2,000 characters, on one line. */
  readonly message: string
  /** A code of this library, of the runtime or of a client, such as `ECONNREFUSED`. */
  readonly code?: string
  /** `name: message` and, on a line each, where it was thrown: at most 30 lines. */
  readonly stack?: string
  /** Its `cause`; five deep at the most. */
  readonly cause?: ErrorStory
  /** The errors of an `AggregateError`. */
  readonly errors?: readonly ErrorStory[]
}

/** Most errors that one story tells of, and how deep it goes. */
const MAX_ERRORS = 10
const MAX_DEPTH = 5

const MAX_MESSAGE = 2000
const MAX_NAME = 100
const MAX_FRAMES = 30
const MAX_FRAME = 300

/** What is shorter is no secret; cut out, it would only garble the log. */
const MIN_SECRET = 4

/** Tells what was thrown, whatever it is. Never throws. */
export function storyOf(thrown: unknown, secrets: readonly string[] = []): ErrorStory {
  return new ErrorText(secrets).tell(thrown, MAX_DEPTH)
}

/** A text as a story holds it. */
export function cleanText(text: string, secrets: readonly string[] = []): string {
  return new ErrorText(secrets).clean(text, MAX_MESSAGE)
}

class ErrorText {
  readonly #secrets: readonly string[]
  /** Those that were told: a chain may lead back to itself. */
  readonly #told = new Set<unknown>()

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets.filter(({ length }) => length >= MIN_SECRET)
  }

  tell(thrown: unknown, depth: number): ErrorStory {
    this.#told.add(thrown)
    const name = this.clean(nameOf(thrown), MAX_NAME)
    const message = this.clean(messageOf(thrown), MAX_MESSAGE)
    const code = textIn(thrown, 'code')
    const stack = this.#stackOf(thrown, `${name}: ${message}`)
    const cause = this.#inner(memberOf(thrown, 'cause'), depth)
    const errors = this.#innerErrors(memberOf(thrown, 'errors'), depth)
    return {
      name,
      message,
      ...(code !== undefined && { code: this.clean(code, MAX_NAME) }),
      ...(stack !== undefined && { stack }),
      ...(cause !== undefined && { cause }),
      ...(errors.length > 0 && { errors }),
    }
  }

  #inner(thrown: unknown, depth: number): ErrorStory | undefined {
    const isOver = depth <= 1 || this.#told.size >= MAX_ERRORS
    if (thrown === undefined || thrown === null || isOver || this.#told.has(thrown)) return undefined
    return this.tell(thrown, depth - 1)
  }

  #innerErrors(errors: unknown, depth: number): ErrorStory[] {
    const stories: ErrorStory[] = []
    try {
      if (!Array.isArray(errors)) return stories
      for (const error of errors.slice(0, MAX_ERRORS)) {
        const story = this.#inner(error, depth)
        if (story !== undefined) stories.push(story)
      }
    } catch {
      // It looked like a list.
    }
    return stories
  }

  /** The frames below a head of our own: the stack's own has the text as it was, on any number of lines. */
  #stackOf(thrown: unknown, head: string): string | undefined {
    const stack = textIn(thrown, 'stack')
    if (stack === undefined) return undefined
    const frames = this.#redacted(withoutMessage(stack, textIn(thrown, 'message')))
      .split('\n')
      .filter(line => FRAME.test(line))
      .slice(0, MAX_FRAMES)
      .map(line => `    ${plain(line.trim(), ' ').slice(0, MAX_FRAME)}`)
    return [head, ...frames].join('\n')
  }

  clean(text: string, max: number): string {
    return plain(this.#redacted(text), ' ').slice(0, max)
  }

  #redacted(text: string): string {
    return withoutKeyText(redact(text, this.#secrets))
  }
}

/** A line of a stack: `at name (place)` of V8 and Bun, `name@place` of other engines. */
const FRAME = /^\s*at |^[^\s@]*@\S+:\d+/

/** A line of a message may look like a frame; one that has no lines is none. */
function withoutMessage(stack: string, message = ''): string {
  const at = /[\r\n]/.test(message) ? stack.indexOf(message) : -1
  return at === -1 ? stack : stack.slice(at + message.length)
}

function nameOf(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return thrown === null ? 'null' : typeof thrown
  return textIn(thrown, 'name') ?? textIn(memberOf(thrown, 'constructor'), 'name') ?? 'object'
}

function textIn(value: unknown, member: string): string | undefined {
  const text = memberOf(value, member)
  return typeof text === 'string' && text !== '' ? text : undefined
}

/** A member of other code's value; undefined where looking at it throws. */
function memberOf(value: unknown, member: string): unknown {
  try {
    return (Object(value) as Record<string, unknown>)[member]
  } catch {
    return undefined
  }
}
