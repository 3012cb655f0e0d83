/**
 * A thrown value for the log: names, texts and stacks, within bounds and without secrets. Clients, events and stores never see
 * it.
 *
 * @module
 */

import { messageOf, redact, withoutKeyText } from '../base/errors.ts'
import { plain } from '../web/plain.ts'

/** A thrown value and its causes, in the form of a log entry. */
export interface ErrorStory {
  /** The class of the error, or the type of another value. */
  readonly name: string
  /** At most 2,000 characters, on one line. */
  readonly message: string
  /** A code of this library, of the runtime or of a client, such as `ECONNREFUSED`. */
  readonly code?: string
  /** `name: message`, then one line per frame: at most 30. */
  readonly stack?: string
  /** The story of its `cause`; at most five deep. */
  readonly cause?: ErrorStory
  /** The errors of an `AggregateError`. */
  readonly errors?: readonly ErrorStory[]
}

/** The most errors in one story, and its greatest depth. */
const MAX_ERRORS = 10
const MAX_DEPTH = 5

const MAX_MESSAGE = 2000
const MAX_NAME = 100
const MAX_FRAMES = 30
const MAX_FRAME = 300

/** Shorter texts are not treated as secrets, since removing them would only garble the log. */
const MIN_SECRET = 4

/** Describes any thrown value. Never throws. */
export function storyOf(thrown: unknown, secrets: readonly string[] = []): ErrorStory {
  return new ErrorText(secrets).describe(thrown, MAX_DEPTH)
}

/** Cleans a text as a story's texts are. */
export function cleanText(text: string, secrets: readonly string[] = []): string {
  return new ErrorText(secrets).clean(text, MAX_MESSAGE)
}

class ErrorText {
  readonly #secrets: readonly string[]
  /** The errors described already. A chain of causes may be circular. */
  readonly #described = new Set<unknown>()

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets.filter(({ length }) => length >= MIN_SECRET)
  }

  describe(thrown: unknown, depth: number): ErrorStory {
    this.#described.add(thrown)
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
    const isOver = depth <= 1 || this.#described.size >= MAX_ERRORS
    if (thrown === undefined || thrown === null || isOver || this.#described.has(thrown)) return undefined
    return this.describe(thrown, depth - 1)
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
      // It only looked like a list.
    }
    return stories
  }

  /**
   * The stack with a first line of its own and the frames. The original first lines have the uncleaned text, on any number of
   * lines.
   */
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

/** Removes the message: a line of it may look like a frame. A message without line breaks cannot. */
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

/** A member of a value from other code; undefined if reading it throws. */
function memberOf(value: unknown, member: string): unknown {
  try {
    return (Object(value) as Record<string, unknown>)[member]
  } catch {
    return undefined
  }
}
