/**
 * Where agent cards are read: at the well-known paths, for all agents and for each (section 8 of A2A 1.0; RFC 8615).
 *
 * @module
 */

import { ServableError } from '../errors.ts'
import type { RequestState } from '../http/context.ts'
import { joinPath, type Route } from '../http/router.ts'
import { sha256 } from '../web/digest.ts'
import { type CardSubject, describeCard } from './card.ts'
import { type CardGeneration, encodeCard } from './card-forms.ts'
import { versionOf } from './endpoint.ts'
import type { A2ASettings } from './options.ts'

/** What the card routes need. */
export interface CardRoutesOptions {
  readonly settings: A2ASettings
  /** The address that clients are to use; undefined for the request's own. */
  readonly publicUrl: string | undefined
  /** The agents on offer, looked up anew each time. */
  readonly subjects: () => readonly CardSubject[]
}

const NAMES = ['.well-known/agent-card.json', '.well-known/agent.json']

/** Cards may be kept for so many seconds; an agent that comes later is seen after that. */
const MAX_AGE = 300

/** The routes of cards: at the root, under the base path, and of every agent. */
export function cardRoutes(options: CardRoutesOptions): Route[] {
  const { basePath } = options.settings
  const stamp = createStamp()
  const bases = basePath === '/' ? ['/'] : ['/', basePath]
  const route = (base: string, name: string): Route => ({
    method: 'GET',
    path: joinPath(base, name),
    part: 'card',
    endpoint: (request, state) => answerCard(request, state, options, stamp),
  })
  return [...bases, joinPath(basePath, 'agents/:agent')].flatMap(base => NAMES.map(name => route(base, name)))
}

async function answerCard(
  request: Request,
  { params }: RequestState,
  options: CardRoutesOptions,
  stamp: Stamp,
): Promise<Response> {
  const { settings, publicUrl } = options
  const { agent } = params
  const subjects = options.subjects().filter(({ name }) => agent === undefined || name === agent)
  if (subjects.length === 0) throw new ServableError('not_found', 'There is no such agent')
  const url = (publicUrl ?? new URL(request.url).origin) + pathOf(settings.basePath, agent)
  // The card of one agent is named after it, not after all of them.
  const { name, description, push, ...rest } = settings
  const shared = { ...rest, pushNotifications: push !== undefined }
  const own = agent === undefined ? { ...shared, name: name ?? nameOf(subjects), description } : shared
  const form: CardGeneration = versionOf(request) ?? settings.cardForm
  const body = JSON.stringify(encodeCard(describeCard(subjects, { ...own, url }), form))
  const { etag, lastModified } = await stamp(body)
  const headers = {
    'cache-control': `${publicUrl === undefined ? 'private' : 'public'}, max-age=${MAX_AGE}`,
    vary: publicUrl === undefined ? 'A2A-Version, Host' : 'A2A-Version',
    etag,
    'last-modified': lastModified,
  }
  if (isKnown(request.headers, etag, lastModified)) return new Response(null, { status: 304, headers })
  return new Response(body, { headers: { ...headers, 'content-type': 'application/json' } })
}

function nameOf(subjects: readonly CardSubject[]): string | undefined {
  return subjects.length === 1 ? subjects[0]?.name : 'servable'
}

function pathOf(basePath: string, agent: string | undefined): string {
  return agent === undefined ? joinPath(basePath) : joinPath(basePath, 'agents', encodeURIComponent(agent))
}

/** Conditional requests (RFC 9110, section 13.2.2): the entity tag decides where there is one. */
function isKnown(headers: Headers, etag: string, lastModified: string): boolean {
  const match = headers.get('if-none-match')
  if (match !== null)
    return match === '*' || match.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag)
  const since = headers.get('if-modified-since')
  return since !== null && Date.parse(since) >= Date.parse(lastModified)
}

type Stamp = (body: string) => Promise<{ etag: string; lastModified: string }>

/** Most versions of cards whose first showing is remembered. */
const MAX_STAMPS = 100

/** Tags cards by what they say, and dates them by when they were first shown so. */
function createStamp(): Stamp {
  const shown = new Map<string, string>()
  return async body => {
    const etag = `"${(await sha256(body)).slice(0, 24)}"`
    const lastModified = shown.get(etag) ?? new Date().toUTCString()
    if (shown.size >= MAX_STAMPS) shown.clear()
    shown.set(etag, lastModified)
    return { etag, lastModified }
  }
}
