import type { Message } from '../../../src/protocols/a2a/model.ts'
import { v1 } from '../../../src/protocols/a2a/wire/v1.ts'
import { v03 } from '../../../src/protocols/a2a/wire/v03.ts'
import { v03Rest } from '../../../src/protocols/a2a/wire/v03-rest.ts'
import type { Wire } from '../../../src/protocols/a2a/wire/wire.ts'

/** JSON as a client sends it. */
export type Json = Record<string, unknown>

/** The details of a wire that a test needs for its requests. */
export interface Dialect {
  readonly name: string
  readonly wire: Wire
  /** The name of a message's parts. */
  readonly parts: string
  readonly user: string
  readonly text: (text: string) => Json
  readonly raw: (raw: string) => Json
  readonly url: (url: string) => Json
  readonly data: (data: unknown) => Json
  /** The members of every message besides id, role and parts. */
  readonly extra: Json
}

const bytes = { mimeType: 'text/plain' }

export const V1: Dialect = {
  name: '1.0',
  wire: v1,
  parts: 'parts',
  user: 'ROLE_USER',
  text: text => ({ text }),
  raw: raw => ({ raw, mediaType: 'text/plain' }),
  url: url => ({ url }),
  data: data => ({ data }),
  extra: {},
}

export const V03: Dialect = {
  name: '0.3 JSON-RPC',
  wire: v03,
  parts: 'parts',
  user: 'user',
  text: text => ({ kind: 'text', text }),
  raw: raw => ({ kind: 'file', file: { bytes: raw, ...bytes } }),
  url: uri => ({ kind: 'file', file: { uri } }),
  data: data => ({ kind: 'data', data }),
  extra: { kind: 'message' },
}

export const V03_REST: Dialect = {
  name: '0.3 HTTP+JSON',
  wire: v03Rest,
  parts: 'content',
  user: 'ROLE_USER',
  text: text => ({ text }),
  raw: raw => ({ file: { fileWithBytes: raw, ...bytes } }),
  url: fileWithUri => ({ file: { fileWithUri } }),
  data: data => ({ data: { data } }),
  extra: {},
}

export const DIALECTS: readonly Dialect[] = [V1, V03, V03_REST]

/** A message of that wire, with some members replaced. */
export function messageOf(dialect: Dialect, members: Json = {}): Json {
  return {
    ...dialect.extra,
    messageId: 'm-1',
    role: dialect.user,
    [dialect.parts]: [dialect.text('hello')],
    ...members,
  }
}

/** The decoded form of one part of a message. */
export function decodePart(dialect: Dialect, part: unknown): Message['parts'][number] | undefined {
  return dialect.wire.decode.send({ message: messageOf(dialect, { [dialect.parts]: [part] }) }).message
    .parts[0]
}

/** The fields that a refusal names. Undefined if the call succeeds. */
export function refusal(
  call: () => unknown,
): { code: string; fields: string[]; message: string } | undefined {
  try {
    call()
    return undefined
  } catch (error) {
    const { code, issues, message } = error as { code: string; issues: { path: string }[]; message: string }
    return { code, fields: issues.map(({ path }) => path), message }
  }
}
