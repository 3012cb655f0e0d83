import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isErrorCode, MASK, messageOf, redact, reportError } from '../../src/base/errors.ts'
import { type ErrorCode, ServableError } from '../../src/index.ts'
import { untyped } from '../support.ts'

const CLIENT: ErrorCode[] = [
  'invalid_path',
  'invalid_body',
  'invalid_input',
  'unauthorized',
  'forbidden',
  'not_found',
  'agent_not_found',
  'team_not_found',
  'workflow_not_found',
  'method_not_allowed',
  'body_too_large',
  'unsupported_media_type',
  'rate_limited',
]
const SERVER: ErrorCode[] = [
  'invalid_options',
  'internal_error',
  'agent_failed',
  'invalid_event',
  'run_too_large',
  'provider_failed',
  'run_timeout',
]

/** An error whose message is this, whatever it is. */
const errorWith = (message: unknown) => Object.assign(new Error('x'), { message: untyped<string>(message) })

const unreadable = Object.create(Error.prototype, {
  message: {
    get() {
      throw new Error('no message')
    },
  },
})

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

/** What is no text and cannot be made one in the usual way. */
const STRANGE: [string, unknown][] = [
  ['undefined', undefined],
  ['null', null],
  ['empty text', ''],
  ['a symbol', Symbol('s')],
  ['an object without a prototype', Object.create(null)],
  ['an object that is no text', { toString: () => untyped<string>({}) }],
  ['an error whose message cannot be read', unreadable],
  ['an error whose message is empty', new Error('')],
  ['an error whose message is a number', errorWith(42)],
  ['an error whose message is nothing', errorWith(undefined)],
  ['an error whose message is an object', errorWith({ a: 1 })],
  ['a proxy that answers nothing', revoked()],
]

describe('ServableError', () => {
  it('is an error with a name, a code and a cause', () => {
    const cause = new Error('deeper')
    const error = new ServableError('invalid_input', 'a city, please', { cause })
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({
      name: 'ServableError',
      code: 'invalid_input',
      message: 'a city, please',
      cause,
    })
  })

  it('has issues, none by default', () => {
    const issues = [{ path: 'a', message: 'is missing' }]
    expect(new ServableError('invalid_body', 'x', { issues }).issues).toEqual(issues)
    expect(new ServableError('invalid_body', 'x').issues).toEqual([])
  })
})

describe('isErrorCode', () => {
  it.each([...CLIENT, ...SERVER])('knows %s', code => {
    expect(isErrorCode(code)).toBe(true)
  })

  it.each(['', 'made_up', 'constructor', '__proto__', 'INVALID_BODY'])('does not know "%s"', code => {
    expect(isErrorCode(code)).toBe(false)
  })
})

describe('reportError', () => {
  it.each(CLIENT)('shows the text of %s always', code => {
    for (const production of [true, false]) {
      expect(reportError(new ServableError(code, 'shown'), production, 'internal_error')).toEqual({
        code,
        message: 'shown',
        issues: [],
      })
    }
  })

  it.each(SERVER)('shows the text of %s outside production only', code => {
    const error = new ServableError(code, 'inside')
    expect(reportError(error, false, 'internal_error')).toMatchObject({ code, message: 'inside' })
    expect(reportError(error, true, 'internal_error')).toMatchObject({ code, message: MASK })
  })

  it('gives an unknown throw the code that it is told', () => {
    const error = Object.assign(new Error('inside'), { code: 'invalid_input' })
    expect(reportError(error, false, 'agent_failed')).toEqual({
      code: 'agent_failed',
      message: 'inside',
      issues: [],
    })
    expect(reportError(error, true, 'agent_failed').message).toBe(MASK)
  })

  it('masks an error whose code is not of this library, and gives it the code that it is told', () => {
    const error = new ServableError(untyped('made_up'), 'inside')
    expect(reportError(error, true, 'agent_failed')).toMatchObject({ code: 'agent_failed', message: MASK })
  })

  it.each(STRANGE)('answers for %s', (_, thrown) => {
    expect(reportError(thrown, true, 'agent_failed')).toMatchObject({ code: 'agent_failed', message: MASK })
    expect(reportError(thrown, false, 'agent_failed').message).toEqual(expect.stringMatching(/./))
  })
})

describe('messageOf', () => {
  it('is the message of an error, or the value as text', () => {
    expect(['text', 5, new Error('inside'), { toString: () => 'own' }].map(messageOf)).toEqual([
      'text',
      '5',
      'inside',
      'own',
    ])
  })

  it.each(STRANGE)('is a text for %s', (_, thrown) => {
    expect(messageOf(thrown)).toEqual(expect.stringMatching(/./))
  })

  it('is a text for anything', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), thrown => {
        expect(messageOf(thrown)).toEqual(expect.stringMatching(/[\s\S]/))
        expect(messageOf(errorWith(thrown))).toEqual(expect.stringMatching(/[\s\S]/))
      }),
    )
  })
})

describe('redact', () => {
  it('takes every place of every secret out', () => {
    expect(redact('a-key, b-key and a-key', ['a-key', 'b-key'])).toBe('[redacted], [redacted] and [redacted]')
  })

  it('takes a secret for a text, not for a pattern', () => {
    expect(redact('(a+) and $&', ['(a+)', '$&'])).toBe('[redacted] and [redacted]')
  })

  it('takes a secret out as it stands in a URL', () => {
    expect(redact('?key=a%2Fb%20c', ['a/b c'])).toBe('?key=[redacted]')
    expect(redact('\ud800', ['\ud800'])).toBe('[redacted]')
  })

  it('looks at no text twice', () => {
    expect(redact('e', ['e', 'd'])).toBe('[redacted]')
  })

  it('takes out a secret that is too long for a pattern', () => {
    const long = '(x+'.repeat(100_000)
    expect(redact(`no ${long}!`, [long, 'y'])).toBe('no [redacted]!')
    expect(redact('y', [long, 'y'])).toBe('[redacted]')
  })

  it('does what one pattern of all secrets would do', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 12 })
    fc.assert(
      fc.property(texts, fc.array(texts, { maxLength: 4 }), (text, secrets) => {
        const known = secrets.filter(secret => secret !== '').sort((a, b) => b.length - a.length)
        const pattern = new RegExp(known.join('|'), 'g')
        expect(redact(text, secrets)).toBe(known.length === 0 ? text : text.replace(pattern, '[redacted]'))
      }),
    )
  })

  it('ignores empty secrets', () => {
    expect(redact('text', ['', ''])).toBe('text')
  })

  it.each([[['sk-1', 'sk-1234']], [['sk-1234', 'sk-1']]])('leaves no rest of the longer of %j', secrets => {
    expect(redact('sk-1234 is refused', secrets)).not.toContain('234')
  })
})
