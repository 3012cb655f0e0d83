/**
 * The routes of agent cards: the well-known paths, for all agents and for each agent (section 8 of A2A 1.0; RFC 8615).
 *
 * @module
 */

import type { RequestState, Route } from '../http/context.ts'
import { joinPath } from '../http/router.ts'
import { sha256 } from '../web/digest.ts'
import type { AgentCard, CardGeneration } from './card-forms.ts'
import { type Cards, signed } from './cards.ts'
import { versionOf } from './endpoint.ts'
import type { A2ASettings, SignCard } from './options.ts'

/** What the card routes need. */
export interface CardRoutesOptions {
  readonly settings: A2ASettings
  readonly publicUrl: string | undefined
  readonly cards: Cards
}

const NAMES = ['.well-known/agent-card.json', '.well-known/agent.json']

/** Seconds for which clients may cache a card. A client may see a new agent only after that time. */
const MAX_AGE = 300

/** Returns the card routes: at the root, under the base path, and for each agent. */
export function cardRoutes(options: CardRoutesOptions): Route[] {
  const { basePath, sign } = options.settings
  const stamp = createStamp(sign)
  const bases = basePath === '/' ? ['/'] : ['/', basePath]
  const route = (base: string, name: string): Route => ({
    method: 'GET',
    path: joinPath(base, name),
    part: 'card',
    isOpen: true,
    endpoint: (request, state) => answerCard(request, state, options, stamp),
  })
  return [...bases, joinPath(basePath, 'agents/:agent')].flatMap(base => NAMES.map(name => route(base, name)))
}

async function answerCard(
  request: Request,
  { params: { agent } }: RequestState,
  { settings, publicUrl, cards }: CardRoutesOptions,
  stamp: Stamp,
): Promise<Response> {
  const form: CardGeneration = versionOf(request) ?? settings.cardForm
  const { etag, lastModified, body } = await stamp(await cards({ request, agent, form }), form)
  const headers = {
    'cache-control': `${publicUrl === undefined ? 'private' : 'public'}, max-age=${MAX_AGE}`,
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
