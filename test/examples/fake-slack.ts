/** Slack as a bot sees it: its Web API on loopback, and requests that are signed as Slack's documentation says. */
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { listening } from '../listening.ts'

/** The secret with which Slack signs. */
export const SIGNING_SECRET = 'signing-secret-of-the-test'
export const TEAM = 'T1'
export const BOT = 'UBOT'

/** A button of a message. */
interface Button {
  readonly action_id: string
  readonly value: string
  readonly text: { readonly text: string }
}

/** A message that the bot has posted. */
export interface Posted {
  readonly channel: string
  readonly ts: string
  readonly thread_ts: string | undefined
  /** Its texts: as it was posted, and after each edit. */
  readonly texts: string[]
  /** When these came, in milliseconds. */
  readonly at: number[]
  buttons: readonly Button[]
}

/** A call of the Web API. */
interface Called {
  readonly method: string
  readonly fields: Readonly<Record<string, string>>
}

export interface FakeSlack {
  /** The address of the Web API. */
  readonly url: string
  readonly posted: Posted[]
  readonly calls: Called[]
  /** The files that were uploaded, by the name. */
  readonly uploads: Map<string, Buffer>
  /** The files that people have sent, by their path. */
  readonly files: Map<string, Buffer>
  /** How many calls of a method are refused with 429 from now on. */
  readonly busy: Map<string, number>
  /** The messages in a thread. */
  inThread(ts: string): Posted[]
  stop(): Promise<void>
}

interface Block {
  readonly type: string
  readonly text?: { readonly text: string }
  readonly elements?: readonly Button[]
}

const blocksOf = (fields: Called['fields']): readonly Block[] => JSON.parse(fields.blocks ?? '[]')

/** What a person sees of a message. */
function textOf(fields: Called['fields']): string {
  const ofBlocks = blocksOf(fields).flatMap(({ text }) => (text === undefined ? [] : [text.text]))
  return fields.markdown_text ?? (ofBlocks.length > 0 ? ofBlocks.join('\n') : (fields.text ?? ''))
}

const buttonsOf = (fields: Called['fields']) =>
  blocksOf(fields).flatMap(({ type, elements = [] }) => (type === 'actions' ? elements : []))

/** Starts it. */
export async function startFakeSlack(): Promise<FakeSlack> {
  const posted: Posted[] = []
  const calls: Called[] = []
  const uploads = new Map<string, Buffer>()
  const files = new Map<string, Buffer>()
  const waiting = new Map<string, string>()
  const busy = new Map<string, number>()
  let last = 1000

  const METHODS: Readonly<Record<string, (fields: Called['fields']) => object>> = {
    'auth.test': () => ({ user_id: BOT, bot_id: 'B1', user: 'desk', team_id: TEAM }),
    'users.info': ({ user = '' }) => ({
      user: { id: user, name: 'x', profile: { display_name: user === BOT ? 'Help Desk' : user } },
    }),
    'chat.postMessage'(fields) {
      const { channel = '', thread_ts } = fields
      const ts = `${++last}.000100`
      const message = { channel, ts, thread_ts, texts: [textOf(fields)], at: [Date.now()] }
      posted.push({ ...message, buttons: buttonsOf(fields) })
      return { channel, ts, message: { ts } }
    },
    'chat.update'(fields) {
      const { channel, ts } = fields
      const message = posted.find(each => each.channel === channel && each.ts === ts)
      if (message === undefined) return { ok: false, error: 'message_not_found' }
      message.texts.push(textOf(fields))
      message.at.push(Date.now())
      message.buttons = buttonsOf(fields)
      return { channel, ts }
    },
    'chat.postEphemeral': () => ({ message_ts: `${++last}.000100` }),
    'files.getUploadURLExternal'({ filename = '' }) {
      const id = `F${++last}`
      waiting.set(id, filename)
      return { file_id: id, upload_url: `${server.url}/upload/${id}` }
    },
    'files.completeUploadExternal': ({ files: given = '[]' }) => ({
      files: JSON.parse(given).map(({ id }: { id: string }) => ({ id })),
    }),
  }

  /** The answer of the Web API. */
  function answerOf(request: IncomingMessage, body: Buffer): object {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1')
    const method = pathname.replace('/api/', '')
    const fields = Object.fromEntries([...searchParams, ...new URLSearchParams(body.toString())])
    calls.push({ method, fields })
    const token = fields.token ?? request.headers.authorization?.replace('Bearer ', '')
    if (token !== 'xoxb-token') return { ok: false, error: 'invalid_auth' }
    return { ok: true, ...(METHODS[method]?.(fields) ?? { ok: false, error: 'unknown_method' }) }
  }

  /** Answers a request for or with a file. Undefined for others. */
  function answerFile(pathname: string, request: IncomingMessage, body: Buffer): Buffer | number | undefined {
    const file = files.get(pathname)
    if (file !== undefined) return request.headers.authorization === 'Bearer xoxb-token' ? file : 403
    if (pathname.startsWith('/files-pri/')) return 404
    const [, upload] = /^\/upload\/(\w+)$/.exec(pathname) ?? []
    if (upload === undefined) return undefined
    uploads.set(waiting.get(upload) ?? upload, body)
    return Buffer.from('OK')
  }

  const server = await listening(
    createServer(async (request, response) => {
      const body = await buffer(request)
      const { pathname } = new URL(request.url ?? '', 'http://127.0.0.1')
      const file = answerFile(pathname, request, body)
      const method = pathname.replace('/api/', '')
      const left = busy.get(method) ?? 0
      if (typeof file === 'number') response.writeHead(file).end()
      else if (file !== undefined) response.writeHead(200, { 'content-type': 'image/png' }).end(file)
      else if (left > 0) {
        busy.set(method, left - 1)
        response.writeHead(429, { 'retry-after': '1' }).end()
      } else {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(answerOf(request, body)))
      }
    }),
  )
  return {
    ...{ url: server.url, posted, calls, uploads, files, busy, stop: server.stop },
    inThread: ts => posted.filter(({ thread_ts }) => thread_ts === ts),
  }
}

/** How a request is sent. */
export interface Sent {
  readonly secret?: string
  /** Seconds since 1970. */
  readonly at?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a request as Slack does: https://docs.slack.dev/authentication/verifying-requests-from-slack */
export function send(url: string, body: string, type: string, sent: Sent = {}): Promise<Response> {
  const { secret = SIGNING_SECRET, at = Math.floor(Date.now() / 1000), headers = {} } = sent
  const signature = createHmac('sha256', secret).update(`v0:${at}:${body}`).digest('hex')
  return fetch(`${url}/slack`, {
    method: 'POST',
    body,
    headers: {
      'content-type': type,
      'x-slack-request-timestamp': String(at),
      'x-slack-signature': `v0=${signature}`,
      ...headers,
    },
  })
}

/** Something that somebody says. */
export interface Said {
  readonly user: string
  readonly text: string
  readonly ts: string
  readonly thread_ts?: string
  readonly channel?: string
  readonly channel_type?: string
  readonly subtype?: string
  readonly files?: readonly object[]
}

/** The envelope of an event. A mention is sent as `app_mention` and as `message`, as Slack does where an app has both. */
export function eventOf(type: 'app_mention' | 'message', { channel = 'C1', ...said }: Said): string {
  const event = { type, channel, channel_type: 'channel', team: TEAM, ...said }
  const ids = { team_id: TEAM, api_app_id: 'A1', event_id: `Ev${type}${said.ts}` }
  return JSON.stringify({ ...ids, type: 'event_callback', event_time: 1, event })
}

/** Presses a button of a message. */
export function press(
  url: string,
  { channel, ts, thread_ts }: Posted,
  { action_id, value }: Pick<Button, 'action_id' | 'value'>,
  user: string,
): Promise<Response> {
  const payload = {
    type: 'block_actions',
    ...{ team: { id: TEAM }, user: { id: user, username: user, team_id: TEAM }, trigger_id: 't' },
    ...{ channel: { id: channel }, message: { ts, thread_ts }, container: { type: 'message' } },
    actions: [{ type: 'button', action_id, value }],
  }
  const body = new URLSearchParams({ payload: JSON.stringify(payload) })
  return send(url, String(body), 'application/x-www-form-urlencoded')
}
