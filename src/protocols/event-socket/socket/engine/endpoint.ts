/**
 * Answers the requests to an engine (Engine.IO, "Transports").
 *
 * @module
 */

import { isWebSocket, type Platform, type RawSocket } from '../../../../http/platform.ts'
import { createAddressReader } from '../../../../web/client-address.ts'
import { isAddressed } from '../../../../web/host.ts'
import type { AddressReader } from '../../../../web/ip-address.ts'
import type { Handshake } from './connection.ts'
import type { ConnectionSlots } from './connection-slots.ts'
import type { EngineSettings } from './options.ts'
import { openResponse, poll, post } from './polling.ts'
import { type RefusalName, refuse } from './refusal.ts'
import type { EngineSession } from './session.ts'
import { SessionSocket, surplusSocket, UpgradeSocket } from './upgrade.ts'

/** The parts that the requests of one engine share. */
export interface EngineEndpointOptions {
  readonly settings: EngineSettings
  readonly sessions: ReadonlyMap<string, EngineSession>
  readonly slots: ConnectionSlots
  /** Makes a session: on the WebSocket if one is given, otherwise on polling. */
  readonly open: (handshake: Handshake, socket?: RawSocket, isPlain?: boolean) => EngineSession
  readonly isFull: (handshake: Handshake) => boolean
}

/** Answers a request that `allow` has let through. */
export type EngineEndpoint = (request: Request, platform: Platform) => Response | Promise<Response>

/** The options, and what else is needed to open a session. */
interface Opening extends EngineEndpointOptions {
  readonly addressOf: AddressReader
}

/** Makes the endpoint of an engine. */
export function createEndpoint(options: EngineEndpointOptions): EngineEndpoint {
  const { settings } = options
  const engine = { ...options, addressOf: createAddressReader(settings.trustProxy, settings.onError) }
  const path = withoutSlash(settings.path)
  return (request, platform) => {
    if (!isAddressed(request)) return refuse('badRequest')
    const { pathname, searchParams } = new URL(request.url)
    if (withoutSlash(pathname) !== path) return refuse('notFound')
    if (settings.plain && isPlain(request, searchParams)) return open(engine, request, platform, true)
    const wrong = whatIsWrong(request, searchParams, platform)
    if (wrong !== undefined) return refuse(wrong)
    const sid = searchParams.get('sid')
    return sid === null ? open(engine, request, platform) : continueSession(engine, sid, request, platform)
  }
}

/** Makes the packet that opens a session ("Handshake"). */
export function openFrame(sid: string, upgrades: readonly string[], settings: EngineSettings): string {
  const { pingInterval, pingTimeout, maxPayload } = settings
  return `0${JSON.stringify({ sid, upgrades, pingInterval, pingTimeout, maxPayload })}`
}

/** Whether the client asks for base64 instead of binary frames (the stock client's `forceBase64`). */
export function wantsText(url: string): boolean {
  return Boolean(new URL(url).searchParams.get('b64'))
}

function handshakeOf(
  request: Request,
  { ip: peer, identity, requestId }: Platform,
  { settings: { headers: names }, addressOf }: Opening,
): Handshake {
  const headers: Record<string, string> = {}
  for (const name of names) {
    const value = request.headers.get(name)
    if (value !== null) headers[name] = value
  }
  const ip = addressOf(request.headers, peer)
  return {
    url: request.url,
    headers,
    ...(ip !== undefined && { ip }),
    ...(identity !== undefined && { identity }),
    ...(requestId !== undefined && { requestId }),
  }
}

/** Whether the request opens a WebSocket without naming a protocol. */
function isPlain(request: Request, query: URLSearchParams): boolean {
  return !query.has('EIO') && isUpgrade(request)
}

function whatIsWrong(
  request: Request,
  query: URLSearchParams,
  { upgrade }: Platform,
): RefusalName | undefined {
  const transport = query.get('transport')
  const isWebSocket = transport === 'websocket' && upgrade !== undefined
  if (transport !== 'polling' && !isWebSocket) return 'unknownTransport'
  if (query.get('EIO') !== '4') return 'unsupportedVersion'
  return isWebSocket === isUpgrade(request) ? undefined : 'badRequest'
}

function open(engine: Opening, request: Request, platform: Platform, isPlainSocket = false): Response {
  if (request.method !== 'GET') return refuse('badMethod')
  const handshake = handshakeOf(request, platform, engine)
  if (engine.isFull(handshake)) return refuse('tooMany')
  if (isUpgrade(request)) {
    const { maxPayload } = engine.settings
    // The runtime may release the request once the WebSocket is open.
    const handlers = new SessionSocket(maxPayload, undefined, socket =>
      engine.open(handshake, socket, isPlainSocket),
    )
    return platform.upgrade?.(handlers) ?? refuse('badRequest')
  }
  const upgrades = platform.upgrade === undefined ? [] : ['websocket']
  const { id } = engine.open(handshake)
  return openResponse(openFrame(id, upgrades, engine.settings))
}

function continueSession(
  { settings, sessions, slots }: EngineEndpointOptions,
  sid: string,
  request: Request,
  platform: Platform,
): Response | Promise<Response> {
  const session = sessions.get(sid)
  session?.tick(settings.now())
  // A session belongs to the user who opened it, even if someone else knows its id.
  const isOwn = session?.handshake.identity?.id === platform.identity?.id
  if (session === undefined || session.isClosed || !isOwn) return refuse('unknownSession')
  if (isUpgrade(request)) return moveToSocket(session, request, { settings, slots }, platform)
  if (session.transport === 'websocket') return refuse('badRequest')
  if (request.method === 'GET') return poll(session)
  if (request.method === 'POST' && session.isOpen) return post(session, request, settings.maxPayload)
  return refuse('badRequest')
}

/** A session has at most one WebSocket. A second one is closed ("WebSocket"). */
function moveToSocket(
  session: EngineSession,
  request: Request,
  { settings, slots }: Pick<EngineEndpointOptions, 'settings' | 'slots'>,
  platform: Platform,
): Response {
  // The session has a slot. But WebSockets that were refused before may still be open.
  if (slots.isFull(session.handshake, 0)) return refuse('tooMany')
  const isTaken = session.attempt !== undefined || session.transport === 'websocket' || !session.isOpen
  if (isTaken) return platform.upgrade?.(surplusSocket(session, slots)) ?? refuse('badRequest')
  const until = settings.now() + settings.upgradeTimeout
  const attempt = new UpgradeSocket(settings, session, slots, until, wantsText(request.url))
  session.attempt = attempt
  const response = platform.upgrade?.(attempt)
  if (response !== undefined) return response
  session.attempt = undefined
  return refuse('badRequest')
}

function isUpgrade(request: Request): boolean {
  return isWebSocket(request.headers.get('upgrade'))
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path
}
