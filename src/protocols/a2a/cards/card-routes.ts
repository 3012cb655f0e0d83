/**
 * The routes of agent cards: the well-known paths, for all agents and for each agent (section 8 of A2A 1.0; RFC 8615).
 *
 * @module
 */

import type { Kind } from '../../../agents/contract.ts'
import type { RequestState, Route } from '../../../http/context.ts'
import { joinPath } from '../../../http/router.ts'
import { sha256 } from '../../../web/digest.ts'
import { versionOf } from '../endpoint.ts'
import type { A2ASettings, SignCard } from '../options.ts'
import type { Tenants } from '../tenants.ts'
import type { AgentCard, CardGeneration } from './card-forms.ts'
import { type Cards, signed } from './cards.ts'
import { KIND_PATHS } from './skills.ts'

/** What the card routes need. */
export interface CardRoutesOptions {
  readonly settings: A2ASettings
  readonly publicUrl: string | undefined
  readonly cards: Cards
  readonly tenants: Tenants
}

const NAMES = ['.well-known/agent-card.json', '.well-known/agent.json']

/** Seconds for which clients may cache a card. A client may see a new agent only after that time. */
const MAX_AGE = 300

/** Returns the card routes: at the root, under the base path, for each servable, and for each tenant. */
export function cardRoutes(options: CardRoutesOptions): Route[] {
  const { basePath, sign } = options.settings
  const stamp = createStamp(sign)
  const bases = basePath === '/' ? ['/'] : ['/', basePath]
  const routes = (base: string, kind?: Kind): Route[] =>
    NAMES.map(name => ({
      method: 'GET',
      path: joinPath(base, name),
      part: 'card',
      isOpen: true,
      endpoint: (request, state) => answerCard(request, state, kind, options, stamp),
    }))
  // A tenant's card needs the same permission as the tenant's tasks.
  const ofTenants = () =>
    routes(joinPath(basePath, ':tenant')).map(route => ({ ...route, part: 'a2a', isOpen: false }))
  return [
    ...bases.flatMap(base => routes(base)),
    ...KIND_PATHS.flatMap(([kind, segment]) => routes(joinPath(basePath, segment, ':agent'), kind)),
    ...(options.tenants.isOn ? ofTenants() : []),
  ]
}

async function answerCard(
  request: Request,
  state: RequestState,
  kind: Kind | undefined,
  { settings, publicUrl, cards, tenants }: CardRoutesOptions,
  stamp: Stamp,
): Promise<Response> {
  const form: CardGeneration = versionOf(request) ?? settings.cardForm
  const { params, identity } = state
  const agent = kind && { kind, name: params.agent ?? '' }
  const { tenant } = params
  if (tenant !== undefined) await tenants.admit(tenant, { identity, state, request })
  const { etag, lastModified, body } = await stamp(await cards({ request, agent, tenant, form }), form)
  const isShared = publicUrl !== undefined && tenant === undefined
  const headers = {
    'cache-control': `${isShared ? 'public' : 'private'}, max-age=${MAX_AGE}`,
    vary: publicUrl === undefined ? 'A2A-Version, Host' : 'A2A-Version',
    etag,
    'last-modified': lastModified,
  }
  if (isKnown(request.headers, etag, lastModified)) return new Response(null, { status: 304, headers })
  return new Response(body, { headers: { ...headers, 'content-type': 'application/json' } })
}

/** Whether a conditional request already has this version (RFC 9110, section 13.2.2). `If-None-Match` takes precedence. */
function isKnown(headers: Headers, etag: string, lastModified: string): boolean {
  const match = headers.get('if-none-match')
  if (match !== null) return match === '*' || match.split(',').some(tag => plain(tag) === plain(etag))
  const since = headers.get('if-modified-since')
  return since !== null && Date.parse(since) >= Date.parse(lastModified)
}

/** Removes the weak prefix of a tag, for weak comparison (RFC 9110, section 8.8.3.2). */
function plain(tag: string): string {
  return tag.trim().replace(/^W\//, '')
}

/** A card as it is sent. */
interface Shown {
  readonly etag: string
  readonly lastModified: string
  readonly body: string
}

type Stamp = (card: AgentCard, form: CardGeneration) => Promise<Shown>

/** Most card versions that are remembered. */
const MAX_STAMPS = 100

/**
 * Adds the entity tag, the date and the signatures to a card. The tag is a digest of the content. The date is when this
 * content was first sent. Each content is signed once.
 */
function createStamp(sign: SignCard | undefined): Stamp {
  const known = new Map<string, Promise<Shown>>()
  return async (card, form) => {
    const text = JSON.stringify(card)
    const digest = (await sha256(text)).slice(0, 24)
    const before = known.get(digest)
    if (before !== undefined) {
      // The most recently used card moves to the end, so that it is dropped last.
      known.delete(digest)
      known.set(digest, before)
      return before
    }
    const [oldest] = known.keys()
    if (known.size >= MAX_STAMPS && oldest !== undefined) known.delete(oldest)
    // Signatures of the same content differ between processes, so the tag is weak.
    const etag = sign === undefined ? `"${digest}"` : `W/"${digest}"`
    const lastModified = new Date().toUTCString()
    const shown = signed(card, form, sign).then(signedCard => ({
      etag,
      lastModified,
      body: sign === undefined ? text : JSON.stringify(signedCard),
    }))
    known.set(digest, shown)
    // The next request tries again after a failure.
    shown.catch(() => known.delete(digest))
    return shown
  }
}
