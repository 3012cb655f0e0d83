/**
 * Checks the definition of a tool server, and separates the parts that may be shown.
 *
 * @module
 */

import * as v from 'valibot'
import type { KeptDefinition, ToolServerAuth, ToolServerDefinition } from '../../agents/tool-servers.ts'
import { ServableError } from '../../base/errors.ts'
import { headerName, isObject, list, misfit, validate } from '../../base/validation.ts'
import { isTokenLike, type NamedValue, partsOf, secretsIn } from '../../web/secrets.ts'

/** How to reach a tool server, with all secrets. */
export type ServerAccess =
  | {
      readonly transport: 'http' | 'sse'
      readonly url: string
      readonly headers: Readonly<Record<string, string>>
      readonly auth?: ToolServerAuth | undefined
    }
  | {
      readonly transport: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      readonly env: Readonly<Record<string, string>>
    }

const MAX_NAMES = 100
const MAX_APPROVALS = 1000
const MAX_VALUE = 8192

/** Headers that the protocol or the connection sets. */
const OWN_HEADERS =
  /^(host|connection|content-length|content-type|transfer-encoding|upgrade|te|trailer|keep-alive|expect|accept|last-event-id|mcp-.*|proxy-.*)$/i

/** Variables that can make a program load other code. */
const LOADER_VARIABLES =
  /^(PATH|PATHEXT|CLASSPATH|SHELL|IFS|ENV|BASH_.*|LD_.*|DYLD_.*|GLIBC_.*|MALLOC_.*|NODE_.*|BUN_.*|DENO_.*|UV_.*|npm_.*|PYTHON.*|PIP_.*|PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|LUA_.*|PHP.*|JAVA_.*|_JAVA_.*|JDK_.*|DOTNET_.*|OPENSSL_.*|SSL_.*|GIT_.*)$/i

const bounded = v.pipe(
  v.string('must be text'),
  v.maxLength(MAX_VALUE, `must have at most ${MAX_VALUE} characters`),
)
const value = v.pipe(bounded, v.regex(/^[^\0\r\n]*$/, 'must have no line break and no NUL'))

/** A header's value is sent as bytes (RFC 9110, section 5.5). */
const headerValue = v.pipe(bounded, v.regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must be Latin-1 text'))

/** An object of names and values. They are counted before they are checked. */
const few = v.pipe(
  v.custom<Record<string, unknown>>(isObject, 'must be an object of names and values'),
  v.check(entries => Object.keys(entries).length <= MAX_NAMES, `must have at most ${MAX_NAMES} entries`),
)

const url = v.pipe(
  v.string('must be text'),
  v.maxLength(2048, 'must have at most 2048 characters'),
  v.check(url => URL.canParse(url), 'must be an absolute URL such as https://tools.example.com/mcp'),
)

/** What is sent as the credentials of a client. */
const credential = v.pipe(bounded, v.regex(/^[\x21-\x7e]+$/, 'must be ASCII without spaces'))

const client = {
  clientId: credential,
  scopes: v.optional(
    list(v.pipe(credential, v.maxLength(200, 'must have at most 200 characters')), MAX_NAMES),
  ),
  issuer: v.optional(url),
}

const Definition = v.strictObject({
  name: v.pipe(
    v.string('must be text'),
    v.regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, `-` and `_`'),
    v.check(name => !name.startsWith('__'), 'must not begin with two underscores'),
  ),
  transport: v.picklist(['http', 'sse', 'stdio'], "must be 'http', 'sse' or 'stdio'"),
  url: v.optional(url),
  auth: v.optional(
    v.variant(
      'type',
      [
        v.strictObject({ type: v.literal('client_credentials'), ...client, clientSecret: credential }),
        v.strictObject({
          type: v.literal('authorization_code'),
          ...client,
          clientSecret: v.optional(credential),
        }),
      ],
      "must be 'client_credentials' or 'authorization_code'",
    ),
  ),
  headers: v.optional(
    v.pipe(
      few,
      v.record(
        v.pipe(
          headerName,
          v.check(name => !OWN_HEADERS.test(name), 'is a header that cannot be set'),
        ),
        headerValue,
      ),
    ),
  ),
  command: v.optional(v.pipe(value, v.minLength(1, 'must not be empty'))),
  args: v.optional(list(value, MAX_NAMES)),
  env: v.optional(
    v.pipe(
      few,
      v.record(
        v.pipe(
          v.string(),
          v.regex(/^[A-Za-z_]\w*$/, 'must be the name of a variable'),
          v.check(name => !LOADER_VARIABLES.test(name), 'is a variable that cannot be set'),
        ),
        value,
      ),
    ),
  ),
  elicitation: v.optional(v.picklist(['ask', 'refuse'], "must be 'ask' or 'refuse'")),
  autoConnect: v.optional(v.boolean('must be true or false')),
  needsApproval: v.optional(
    v.union(
      [
        v.boolean(),
        list(
          v.pipe(v.string('must be text'), v.regex(/^[\w.-]{1,128}$/, 'must be the name of a tool')),
          MAX_APPROVALS,
        ),
      ],
      'must be true, false or a list of names of tools',
    ),
  ),
})

/** The fields of each transport. */
const FIELDS = {
  http: { needed: 'url', foreign: ['command', 'args', 'env'] },
  sse: { needed: 'url', foreign: ['command', 'args', 'env'] },
  stdio: { needed: 'command', foreign: ['url', 'headers', 'auth'] },
} as const

/** Checks a definition. Throws `invalid_body`, which names every invalid field but no value. */
export function parseDefinition(body: unknown): ToolServerDefinition {
  if (!isObject(body)) throw new ServableError('invalid_body', '`body` must be a JSON object')
  const definition = validate(Definition, body, 'invalid_body', 'body')
  const { needed, foreign } = FIELDS[definition.transport]
  if (definition[needed] === undefined) {
    throw misfit(needed, `is required when \`transport\` is '${definition.transport}'`)
  }
  const extra = foreign.find(name => definition[name] !== undefined)
  if (extra !== undefined)
    throw misfit(extra, `has no meaning when \`transport\` is '${definition.transport}'`)
  const sendsToken = Object.keys(definition.headers ?? {}).some(name => /^authorization$/i.test(name))
  if (definition.auth !== undefined && sendsToken)
    throw misfit('headers.authorization', 'has no meaning with `auth`')
  return definition
}

/** How to reach the server of a checked definition. */
export function reachOf({
  transport,
  url = '',
  headers,
  auth,
  command = '',
  args,
  env,
}: ToolServerDefinition): ServerAccess {
  if (transport === 'stdio') return { transport, command, args: args ?? [], env: env ?? {} }
  return { transport, url: new URL(url).href, headers: headers ?? {}, ...(auth && { auth }) }
}

/** The parts of a reach that may be shown. They contain no possible secret. */
export function shownOf(reach: ServerAccess): Pick<KeptDefinition, 'transport' | 'url' | 'command'> {
  if (reach.transport === 'stdio') return { transport: 'stdio', url: null, command: reach.command }
  const { origin, pathname, search } = new URL(reach.url)
  const path = pathname.split('/').map(segment => (isTokenLike(segment) ? MASK : segment))
  // An entry is `key=value` or a bare key.
  const query = search
    .slice(1)
    .split('&')
    .map(pair => (pair.includes('=') ? pair.replace(/=.*$/, `=${MASK}`) : MASK))
  const url = `${origin}${path.join('/')}${search === '' ? '' : `?${query.join('&')}`}`
  return { transport: reach.transport, url, command: null }
}

const MASK = '***'

/** The secrets to remove from everything that the server sends back. */
export function secretsOf(reach: ServerAccess): string[] {
  const named =
    reach.transport === 'stdio'
      ? [...Object.entries(reach.env), ...argumentsOf(reach.args)]
      : [
          ...Object.entries(reach.headers),
          ...partsOf(new URL(reach.url)),
          ['secret', reach.auth?.clientSecret ?? ''] as const,
        ]
  return secretsIn(named)
}

/** Arguments by the names of their flags: `--token abc` and `--token=abc`. */
function argumentsOf(args: readonly string[]): NamedValue[] {
  return args.flatMap((arg, index) => {
    const [, flag = '', value] = /^--?([\w-]+)=(.*)$/s.exec(arg) ?? []
    return value === undefined ? [[args[index - 1] ?? '', arg] as const] : [[flag, value] as const]
  })
}
