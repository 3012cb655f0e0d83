/**
 * What a tool server may be: checks a definition, and keeps apart what may be shown of it.
 *
 * @module
 */

import * as v from 'valibot'
import type { KeptDefinition, ToolServerDefinition } from '../agents/tool-servers.ts'
import { ServableError } from '../errors.ts'
import { headerName, isObject, validate } from '../validation.ts'

/** How a tool server is reached, all secrets in it. */
export type Reach =
  | {
      readonly transport: 'http' | 'sse'
      readonly url: string
      readonly headers: Readonly<Record<string, string>>
    }
  | {
      readonly transport: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      readonly env: Readonly<Record<string, string>>
    }

const MAX_NAMES = 100
const MAX_VALUE = 8192

/** Headers that belong to the protocol, and to the connection. */
const OWN_HEADERS =
  /^(host|connection|content-length|content-type|transfer-encoding|upgrade|te|trailer|keep-alive|expect|accept|last-event-id|mcp-.*|proxy-.*)$/i

/** Variables that make a program load something else than itself. */
const LOADER_VARIABLES =
  /^(PATH|PATHEXT|LD_.*|DYLD_.*|NODE_OPTIONS|NODE_PATH|BUN_.*|DENO_.*|PYTHON.*|PERL5.*|RUBY.*|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|BASH_ENV|ENV|IFS|SHELL|GIT_.*|npm_config_.*)$/i

const bounded = v.pipe(
  v.string('must be text'),
  v.maxLength(MAX_VALUE, `must have ${MAX_VALUE} characters at the most`),
)
const value = v.pipe(bounded, v.regex(/^[^\0\r\n]*$/, 'must hold no line break and no NUL'))

/** A header's value goes as bytes (RFC 9110, section 5.5). */
const headerValue = v.pipe(bounded, v.regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must be of Latin-1 characters'))

const few = v.check<Record<string, string>, string>(
  entries => Object.keys(entries).length <= MAX_NAMES,
  `must have ${MAX_NAMES} entries at the most`,
)

const Definition = v.strictObject({
  name: v.pipe(
    v.string('must be text'),
    v.regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, `-` and `_`'),
    v.check(name => !name.startsWith('__'), 'must not begin with two underscores'),
  ),
  transport: v.picklist(['http', 'sse', 'stdio'], "must be 'http', 'sse' or 'stdio'"),
  url: v.optional(
    v.pipe(
      v.string('must be text'),
      v.maxLength(2048, 'must have 2048 characters at the most'),
      v.check(url => URL.canParse(url), 'must be an absolute URL such as https://tools.example.com/mcp'),
    ),
  ),
  headers: v.optional(
    v.pipe(
      v.record(
        v.pipe(
          headerName,
          v.check(name => !OWN_HEADERS.test(name), 'is a header that cannot be set'),
        ),
        headerValue,
        'must be an object of names and values',
      ),
      few,
    ),
  ),
  command: v.optional(v.pipe(value, v.minLength(1, 'must not be empty'))),
  args: v.optional(
    v.pipe(
      v.array(value, 'must be an array'),
      v.maxLength(MAX_NAMES, `must have ${MAX_NAMES} entries at the most`),
    ),
  ),
  env: v.optional(
    v.pipe(
      v.record(
        v.pipe(
          v.string(),
          v.regex(/^[A-Za-z_]\w*$/, 'must be the name of a variable'),
          v.check(name => !LOADER_VARIABLES.test(name), 'is a variable that cannot be set'),
        ),
        value,
        'must be an object of names and values',
      ),
      few,
    ),
  ),
  autoConnect: v.optional(v.boolean('must be true or false')),
})

/** Which fields a transport has. */
const FIELDS = {
  http: { needed: 'url', foreign: ['command', 'args', 'env'] },
  sse: { needed: 'url', foreign: ['command', 'args', 'env'] },
  stdio: { needed: 'command', foreign: ['url', 'headers'] },
} as const

/** Checks a definition. Throws `invalid_body` that names every wrong field, and no value. */
export function parseDefinition(body: unknown): ToolServerDefinition {
  if (!isObject(body)) throw new ServableError('invalid_body', '`body` must be a JSON object')
  const definition = validate(Definition, body, 'invalid_body', 'body')
  const { needed, foreign } = FIELDS[definition.transport]
  if (definition[needed] === undefined) {
    throw wrong(needed, `is needed where \`transport\` is '${definition.transport}'`)
  }
  const extra = foreign.find(name => definition[name] !== undefined)
  if (extra !== undefined)
    throw wrong(extra, `has no meaning where \`transport\` is '${definition.transport}'`)
  return definition
}

/** An error that names a field. */
export function wrong(path: string, message: string): ServableError {
  return new ServableError('invalid_body', `\`${path}\` ${message}`, { issues: [{ path, message }] })
}

/** How the server of a checked definition is reached. */
export function reachOf({
  transport,
  url = '',
  headers,
  command = '',
  args,
  env,
}: ToolServerDefinition): Reach {
  if (transport === 'stdio') return { transport, command, args: args ?? [], env: env ?? {} }
  return { transport, url: new URL(url).href, headers: headers ?? {} }
}

/** What may be shown of a reach: nothing that may be a secret. */
export function shownOf(reach: Reach): Pick<KeptDefinition, 'transport' | 'url' | 'command'> {
  if (reach.transport === 'stdio') return { transport: 'stdio', url: null, command: reach.command }
  const url = new URL(reach.url)
  url.hash = ''
  for (const name of new Set(url.searchParams.keys())) url.searchParams.set(name, '***')
  return { transport: reach.transport, url: url.href, command: null }
}

/** What must not be told on: values of headers, variables and the query, and arguments. */
export function secretsOf(reach: Reach): string[] {
  const values =
    reach.transport === 'stdio'
      ? [...reach.args, ...Object.values(reach.env)]
      : [...Object.values(reach.headers).flatMap(withoutScheme), ...new URL(reach.url).searchParams.values()]
  return [...new Set(values)].filter(({ length }) => length >= MIN_SECRET)
}

/** A shorter value is a word or a number that stands everywhere. */
const MIN_SECRET = 6

/** A header's value, and its credentials without `Bearer`. */
function withoutScheme(header: string): string[] {
  const [, credentials] = /^\w+ +(\S.*)$/.exec(header) ?? []
  return credentials === undefined ? [header] : [header, credentials]
}
