/**
 * How wires read and write push notification configs (section 4.3 of A2A 1.0; 6.8 of 0.3).
 *
 * @module
 */

import * as v from 'valibot'
import { list } from '../../../base/validation.ts'
import type { PushConfig, PushConfigInput } from '../push/config.ts'
import { check, type Grammar } from './decode.ts'
import { optionalText, required, text } from './fields.ts'
import { compact, type RecordOf } from './record.ts'
import type { PushWire } from './wire.ts'

const MAX_SECRET = 4096

/** Text that is sent as a header (RFC 9110, section 5.5). */
const headerText = v.pipe(
  text,
  v.maxLength(MAX_SECRET, `must have at most ${MAX_SECRET} characters`),
  v.regex(/^[\t\x20-\x7e]*$/, 'must be ASCII text without line breaks'),
)

const scheme = v.pipe(
  text,
  v.regex(/^[\w!#$%&'*+.^`|~-]{1,64}$/, 'must be the name of a scheme, such as Bearer'),
)

/** An id that a client chose. Empty text counts as no id. */
export const configId: v.OptionalSchema<v.GenericSchema<unknown, string | undefined>, undefined> = v.optional(
  v.pipe(
    text,
    v.maxLength(200, 'must have at most 200 characters'),
    // Clients remove these segments from a path before they send it (RFC 3986, section 5.2.4).
    v.check(id => id !== '.' && id !== '..', 'must not be `.` or `..`'),
    v.transform(id => id || undefined),
  ),
)

const fields = {
  id: configId,
  url: v.pipe(
    required,
    v.maxLength(2048, 'must have at most 2048 characters'),
    v.check(isUrl, 'must be a URL'),
  ),
  token: v.optional(headerText),
}

function isUrl(value: string): boolean {
  return URL.canParse(value)
}

/** A config as clients of 1.0 write it, with one authentication scheme. */
export function configOfV1(record: RecordOf): v.GenericSchema<unknown, PushConfigInput> {
  const authentication = record({ scheme, credentials: v.optional(headerText) })
  return v.pipe(
    record({ ...fields, authentication: v.optional(authentication) }),
    v.transform(({ authentication, ...rest }) => ({ ...rest, ...authentication, version: '1.0' })),
  )
}

/** A config as clients of 0.3 write it, with a list of authentication schemes. Only the first one is used. */
export function configOfV03(record: RecordOf): v.GenericSchema<unknown, PushConfigInput> {
  const authentication = v.pipe(
    record({ schemes: v.optional(list(scheme, 16), []), credentials: v.optional(headerText) }),
    v.check(
      ({ schemes, credentials }) => credentials === undefined || schemes.length > 0,
      'must have a scheme for its credentials',
    ),
  )
  return v.pipe(
    record({ ...fields, authentication: v.optional(authentication) }),
    v.transform(({ authentication, ...rest }) => ({
      ...rest,
      scheme: authentication?.schemes[0],
      credentials: authentication?.credentials,
      version: '0.3',
    })),
  )
}

/** The names of the task id and the config id on a wire, and where a request to set a config has the config. */
export interface PushGrammar {
  readonly record: RecordOf
  readonly taskId: string
  readonly configId: string
  /** Makes schemas of whole numbers. Undefined if the wire has no pages of configs. */
  readonly count?: Grammar['count']
  /** Reads a config and the id of its task. */
  readonly set: v.GenericSchema<unknown, { readonly taskId: string; readonly config: PushConfigInput }>
}

/** Makes the decoder of a wire. */
export function pushDecoder({ record, taskId, configId, count, set }: PushGrammar): PushWire['decode'] {
  const byTask = record({ [taskId]: required })
  // Zero means that the size was not set.
  const pages = count && record({ pageSize: v.optional(count(0)), pageToken: optionalText })
  const byId = record({ [taskId]: required, [configId]: optionalText })
  return (act, params) => {
    if (act === 'set') return { act, ...check(set, params) }
    if (act === 'list') {
      const task = check(byTask, params)[taskId] as string
      const { pageSize, pageToken } = pages === undefined ? {} : check(pages, params)
      return { act, taskId: task, pageSize: pageSize || undefined, pageToken }
    }
    const found = check(byId, params) as Record<string, string | undefined>
    const task = found[taskId] ?? ''
    // The default id of a config is the id of its task.
    return { act, taskId: task, id: found[configId] || task }
  }
}

/** A config as answers contain it. Credentials are left out. */
export function shown(
  { id, url, token, scheme }: PushConfig,
  authentication: (scheme: string) => object,
): Record<string, unknown> {
  return compact({
    id,
    url,
    token,
    authentication: scheme === undefined ? undefined : authentication(scheme),
  })
}
