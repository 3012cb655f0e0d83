/** The orders of the soak test's clients for its agents, in a form that both sides know. */

/** The kinds of traffic, each with an agent of its own. */
export const KINDS = ['json', 'streams', 'followed', 'sockets', 'tasks', 'uploads'] as const
export type Kind = (typeof KINDS)[number]

/** The hostile client, and its agent, which is not counted. */
export const HOSTILE = 'hostile'

/** The agent at a process that may be killed. Its last counts are lost with the process. */
export const NEIGHBOUR = 'neighbour'

/** The workflow that goes on in another process. It is not counted. */
export const LASTING = 'lasting'

/** The end of a run: by itself, after a tool call, by a throw, or when it is stopped. */
export type Fate = 'answer' | 'tool' | 'fail' | 'wait'

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
