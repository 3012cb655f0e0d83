/**
 * What `servable doctor URL` finds out about a running service, over HTTP alone. It changes nothing there.
 *
 * @module
 */

import { request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import { WebSocket } from 'ws'
import { createClient } from '../client/client.ts'
import type { ClientOptions } from '../client/options.ts'
import { VERSION } from '../http/version.ts'
import { LOOPBACK_NAME } from '../web/ip-address.ts'

/** One finding. */
export interface Check {
  /** The name, for scripts. */
  readonly check: string
  /** `unknown` is neither good nor bad: it cannot be found out from here. */
  readonly status: 'ok' | 'warn' | 'fail' | 'unknown'
  readonly what: string
  /** What to do about it. */
  readonly fix?: string | undefined
}

/** Milliseconds for one request. */
const TIMEOUT_MS = 10_000

/** Most bytes of an answer that are read. */
const MAX_BYTES = 65_536

/** Requests of one polling session. With two servers and a proxy that chooses by chance, one session in 64 seems to stick. */
const POLLS = 6

/** Seconds by which clocks may differ. `Date` has whole seconds. */
const CLOCK_WARN_S = 2
const CLOCK_FAIL_S = 60

/** An answer. */
interface Told {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

type Ask = (
  path: string,
  parts?: { readonly method?: 'POST'; readonly body?: string; readonly anonymous?: true },
) => Promise<Told>

/** Checks a service. Rejects as the client does if there is none. */
export async function checkUrl(service: ClientOptions): Promise<Check[]> {
  const { ready } = await createClient({ ...service, maxTries: 1 }).health({ timeoutMs: TIMEOUT_MS })
  const base = service.baseUrl
  const headers = Object.fromEntries(Object.entries(Object(service.headers) as Record<string, string>))
  const ask: Ask = (path, { anonymous, ...parts } = {}) =>
    send(new URL(path, `${base}/`), { ...parts, headers: anonymous ? {} : headers })
  const sentAt = Date.now()
  const health = await ask('health?versions')
  const passedMs = Date.now() - sentAt
  return [
    ready
      ? { check: 'state', status: 'ok', what: 'The service reads and writes its state' }
      : {
          check: 'state',
          status: 'fail',
          what: 'The service cannot reach its state',
          fix: 'look at `state.failed` in its log: it names the database and the reason',
        },
    versionOf(health),
    clockOf(health, sentAt + passedMs / 2, passedMs),
    hidden('secrets', 'Which secrets are set'),
    proxyOf(health),
    await accessOf(ask, base),
    ...(await socketChecks(ask, base, headers)),
    hidden('webhooks', 'Whether webhooks get out'),
    hidden('disk', 'How much of the disk is free'),
  ]
}

function hidden(check: string, what: string): Check {
  return { check, status: 'unknown', what: `${what} is not known from outside`, fix: HERE }
}

const HERE = 'run `servable doctor` where it runs'

function versionOf({ status, text }: Told): Check {
  const check = 'version'
  const { versions } = jsonIn(text) as { versions?: { servable?: unknown; runtime?: unknown } }
  if (status === 401 || status === 403 || versions === undefined)
    return {
      check,
      status: 'unknown',
      what: 'The version is told to administrators alone',
      fix: 'give the token of an identity with the scope `admin`',
    }
  const { servable, runtime } = versions
  if (servable === VERSION)
    return { check, status: 'ok', what: `The service has version ${VERSION} on ${runtime}, as this command` }
  return {
    check,
    status: 'warn',
    what: `The service has version ${servable} on ${runtime}, and this command has ${VERSION}`,
    fix: 'deploy one version everywhere: an older one refuses a newer schema',
  }
}

function clockOf({ headers }: Told, at: number, passedMs: number): Check {
  const check = 'clock'
  const told = Date.parse(headers.date ?? '')
  if (Number.isNaN(told)) return { check, status: 'unknown', what: 'The service tells no time', fix: HERE }
  // A time in whole seconds is half a second early on average.
  const seconds = Math.round((told + 500 - at) / 1000)
  const apart = Math.abs(seconds) - passedMs / 2000
  if (apart <= CLOCK_WARN_S)
    return { check, status: 'ok', what: 'The clocks of the service and of this machine agree' }
  return {
    check,
    status: apart > CLOCK_FAIL_S ? 'fail' : 'warn',
    what: `The clock of the service is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} this machine's`,
    fix: 'set both by NTP: tokens, signatures and schedules go by them',
  }
}

function proxyOf({ headers }: Told): Check {
  const proxy = headers.via ?? (headers['cf-ray'] && 'Cloudflare') ?? headers.server
  if (proxy === undefined)
    return {
      check: 'proxy',
      status: 'unknown',
      what: 'Whether a proxy is in front is not known from outside',
      fix: HERE,
    }
  return {
    check: 'proxy',
    status: 'unknown',
    what: `A proxy is in front (${proxy}). Whether the service trusts it is not known from outside`,
    fix: `set \`trustProxy\`, or all clients share its address in limits; ${HERE}`,
  }
}

async function accessOf(ask: Ask, base: string): Promise<Check> {
  const check = 'authentication'
  const { status } = await ask('runs?limit=1', { anonymous: true })
  if (status === 401 || status === 403)
    return { check, status: 'ok', what: 'Callers without a credential are refused' }
  const isHere = LOOPBACK_NAME.test(new URL(base).hostname)
  return {
    check,
    status: isHere ? 'warn' : 'fail',
    what: `Everyone who reaches ${new URL(base).host} may run agents`,
    fix: 'add authentication as `middleware`, such as `bearerAuth`',
  }
}

/** The socket through the proxy, and the requests of one polling session. */
async function socketChecks(ask: Ask, base: string, headers: Record<string, string>): Promise<Check[]> {
  const index = await ask(base)
  const { _links: links } = jsonIn(index.text) as { _links?: Record<string, { href?: unknown } | undefined> }
  const href = links?.socket?.href
  if (typeof href !== 'string') {
    const what =
      links === undefined
        ? 'The service tells no links, so its event socket is not known'
        : 'The service has no event socket'
    const status = links === undefined ? 'unknown' : 'ok'
    return ['sockets', 'polling'].map(check => ({ check, status, what }))
  }
  const url = new URL(`${href}/?EIO=4&transport=polling`, base)
  const opened = await send(url, { headers })
  if (opened.status === 401 || opened.status === 403)
    return ['sockets', 'polling'].map(check => ({
      check,
      status: 'unknown',
      what: 'The event socket needs a token',
      fix: 'give --token-file',
    }))
  const { sid } = jsonIn(opened.text.slice(1)) as { sid?: unknown }
  const polling: Check =
    typeof sid === 'string'
      ? await pollingOf(url, sid, headers)
      : {
          check: 'polling',
          status: 'fail',
          what: `The event socket answers polling with ${opened.status}`,
          fix: `let the proxy pass ${href}/ to the service, with its query`,
        }
  return [await upgradeOf(url, headers, polling.status !== 'fail'), polling]
}

async function pollingOf(url: URL, sid: string, headers: Record<string, string>): Promise<Check> {
  const check = 'polling'
  const session = new URL(`${url}&sid=${encodeURIComponent(sid)}`)
  let lost = 0
  // Each is a packet that says nothing, over a connection of its own.
  for (let count = 0; count < POLLS; count++) {
    const { status } = await send(session, { method: 'POST', body: '6', headers })
    if (status !== 200) lost++
  }
  await send(session, { method: 'POST', body: '1', headers }).catch(() => {})
  if (lost === 0) return { check, status: 'ok', what: `${POLLS} requests of one polling session reached it` }
  return {
    check,
    status: 'fail',
    what: `${lost} of ${POLLS} requests of one polling session did not reach it`,
    fix: 'make sessions stick to one server, by a cookie or by the address (see "Several processes" in the page "Deploy")',
  }
}

async function upgradeOf(polling: URL, headers: Record<string, string>, hasPolling: boolean): Promise<Check> {
  const check = 'sockets'
  const url = new URL(polling.href.replace(/^http/, 'ws').replace('transport=polling', 'transport=websocket'))
  const why = await upgraded(url, headers)
  if (why === undefined) return { check, status: 'ok', what: 'A WebSocket gets through' }
  return {
    check,
    status: hasPolling ? 'warn' : 'fail',
    what: `A WebSocket does not get through: ${why}${hasPolling ? '. Clients fall back to polling' : ''}`,
    fix: 'let the proxy pass the headers `Upgrade` and `Connection`, over HTTP/1.1',
  }
}

/** Opens a WebSocket up to its first message. Returns why that failed; undefined if it did not. */
function upgraded(url: URL, headers: Record<string, string>): Promise<string | undefined> {
  return new Promise(resolve => {
    const socket = new WebSocket(url, { headers, handshakeTimeout: TIMEOUT_MS })
    const end = (why?: string) => {
      clearTimeout(timer)
      socket.on('error', () => {})
      socket.terminate()
      resolve(why)
    }
    const timer = setTimeout(() => end('no message came'), TIMEOUT_MS)
    socket.on('unexpected-response', (_, { statusCode }) => end(`the answer was ${statusCode}`))
    socket.on('error', ({ message }) => end(message))
    socket.on('close', () => end('it was closed'))
    socket.on('message', () => end())
  })
}

/** Sends a request over a connection of its own, and follows no redirect. */
function send(
  url: URL,
  {
    method = 'GET',
    body,
    headers,
  }: { readonly method?: 'GET' | 'POST'; readonly body?: string; readonly headers: Record<string, string> },
): Promise<Told> {
  const request = url.protocol === 'https:' ? secureRequest : plainRequest
  const type = body === undefined ? {} : { 'content-type': 'text/plain;charset=UTF-8' }
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, agent: false, headers: { ...headers, ...type } }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', chunk => {
        text += chunk
        if (text.length > MAX_BYTES) asked.destroy(new Error('The answer is too long'))
      })
      response.on('error', reject)
      response.on('end', () => {
        const fields = Object.entries(response.headers).map(([name, value]) => [name, String(value)])
        resolve({ status: response.statusCode ?? 0, headers: Object.fromEntries(fields), text })
      })
    })
    asked.setTimeout(TIMEOUT_MS, () => asked.destroy(new Error('No answer came in time')))
    asked.on('error', reject)
    asked.end(body)
  })
}

function jsonIn(text: string): object {
  try {
    return Object(JSON.parse(text)) as object
  } catch {
    return {}
  }
}
