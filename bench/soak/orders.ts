/** The orders of the soak test's clients for its agents, in a form that both sides know. */

/** The kinds of traffic, each with an agent of its own. */
export const KINDS = [
  ...(['json', 'streams', 'followed', 'sockets', 'tasks', 'uploads'] as const),
  ...(['chats', 'agui', 'openai', 'mcp', 'queued', 'guarded', 'keyed', 'spends'] as const),
] as const
export type Kind = (typeof KINDS)[number]

/** The hostile client, and its agent, which is not counted. */
export const HOSTILE = 'hostile'

/** The agent at a process that may be killed. Its last counts are lost with the process. */
export const NEIGHBOUR = 'neighbour'

/** The workflow that goes on in another process, and asks half way. It is not counted. */
export const LASTING = 'lasting'

/** The agent that a schedule runs, whose runs belong to an identity of this name, and the milliseconds between two ticks. */
export const TICKER = 'ticker'
export const TICK_MS = 10_000

/** The identity whose background runs wait for a place, and how many of an identity may be at work. */
export const QUEUED = 'queued'
export const MAX_RUNNING = 24

/** How the identities begin that spend a budget, and its tokens. */
export const SPENDER = 'spender-'
export const MAX_SPENT = 100

/** The token of the administrator of keys, and how long a process remembers a key. */
export const ADMIN_TOKEN = 'token-of-the-administrator'
export const KEY_CACHE_MS = 1000

/** The secret of webhooks. */
export const WEBHOOK_SECRET = btoa('a secret of the soak test, of 32 bytes')

/**
 * The end of a run: by itself, after a tool call, after a call that a person approved or denied, by a throw, or when it is
 * stopped.
 */
export type Fate = 'answer' | 'tool' | 'approve' | 'deny' | 'fail' | 'wait'

/** Whether a run of this fate waits for a person. */
export function isAsking(fate: Fate): fate is 'approve' | 'deny' {
  return fate === 'approve' || fate === 'deny'
}

/** What a run says after a person has decided. */
export const DECIDED = { approve: 'paid ', deny: 'denied ' }

/** A word that a guard refuses in an input, and what another one masks in an output, though it comes in two pieces. */
export const FORBIDDEN = 'forbidden'
export const MASKED = /:3 r\d+:4 /g
export const MASK = '[masked] '

/** No order has more pieces. */
export const MAX_PIECES = 65

/** The work of one run. */
export interface Order {
  /** A tag that no other run has, so that texts cannot be confused. */
  readonly tag: string
  readonly pieces: number
  readonly pauseMs: number
  readonly fate: Fate
}

/** An order as the input of a run. */
export function writeOrder({ tag, pieces, pauseMs, fate }: Order): string {
  return `${tag} ${pieces} ${pauseMs} ${fate}`
}

export function readOrder(input: string): Order {
  const [tag = '', pieces, pauseMs, fate] = input.trim().split(' ')
  return { tag, pieces: Number(pieces), pauseMs: Number(pauseMs), fate: fate as Fate }
}

/** The text of a piece. */
export function piece(tag: string, index: number): string {
  return `${tag}:${index} `
}

/** The whole text of a run. */
export function textOfOrder({ tag, pieces }: Order): string {
  return Array.from({ length: pieces }, (_, index) => piece(tag, index)).join('')
}
