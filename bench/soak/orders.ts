/** What the soak's clients ask of its agents, in a form that both sides know. */

/** The kinds of traffic, each with an agent of its own. */
export const KINDS = ['json', 'streams', 'followed', 'sockets', 'tasks', 'uploads'] as const
export type Kind = (typeof KINDS)[number]

/** The client that means no good, and the agent that it asks, which nobody counts. */
export const HOSTILE = 'hostile'

/** The agent that is asked at a process that may be killed: what that has counted last is lost with it. */
export const NEIGHBOUR = 'neighbour'

/** How a run ends: by itself, after a call of a tool, by a throw, or when it is stopped. */
export type Fate = 'answer' | 'tool' | 'fail' | 'wait'

/** What one run is to do. */
export interface Order {
  /** Its own, so that no other run's text is taken for its. */
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

/** All that a run says. */
export function textOfOrder({ tag, pieces }: Order): string {
  return Array.from({ length: pieces }, (_, index) => piece(tag, index)).join('')
}
