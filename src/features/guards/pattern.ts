/**
 * Searches for a regular expression in time that is linear in the text.
 *
 * `RegExp` tries one path after another, and some texts have far more paths than characters. This search reads the text twice.
 * From the end to the beginning, an automaton records at each character which parts of the expression may take it and still lead
 * to a match. From the beginning, each step then takes the first recorded part, as `RegExp` would, and never backtracks (A.
 * Frisch and L. Cardelli, "Greedy regular expression matching", 2004). The automaton is complete before the first text; an
 * expression that would need too large a one is refused.
 *
 * @module
 */

import { type Alphabet, alphabetOf, EDGE, TAIL } from './alphabet.ts'
import { literalIn, PatternError, readPattern, type Syntax } from './pattern-syntax.ts'

/** The start and end of a match. */
export interface FoundMatch {
  readonly start: number
  readonly end: number
}

/** A compiled regular expression. */
export interface Pattern {
  /** Reads a text once. Undefined if it has no match. */
  in(text: string): Finder | undefined
}

/** Finds the first non-empty match from a position on, as `RegExp` with the flag `g` does. */
export type Finder = (from: number) => FoundMatch | undefined

/** Most nodes of a graph, and most states of an automaton: both fit into 16 bits. */
const MAX_NODES = 8000
const MAX_STATES = 8000
/** Most nodes that are visited to make the states: a fraction of a second. */
const MAX_WORK = 10_000_000
/** The bits of a step's hash that are dropped: 4,096 steps are cached. */
const SHIFT = 20

/** Compiles a regular expression. Throws a {@link PatternError} with an alternative. */
export function compilePattern(regex: RegExp): Pattern {
  if (regex.flags.includes('v')) throw new PatternError('has the flag `v`: use the flag `u`')
  const syntax = readPattern(regex)
  const graph = graphOf(syntax)
  const alphabet = alphabetOf(graph.sources, regex)
  const walk = walkerOf(graph, automatonOf(graph, alphabet, regex))
  const literal = regex.ignoreCase ? '' : literalIn(syntax)
  return { in: text => (literal !== '' && !text.includes(literal) ? undefined : walk(text)) }
}

/** A node: it takes one character, checks an assertion, ends a match, or leads to other nodes, the preferred one first. */
type Node =
  | { readonly kind: 'char' | 'assertion'; readonly source: string; readonly next: number }
  | { readonly kind: 'end' }
  | { readonly kind: 'ways'; readonly to: readonly number[] }

interface Graph {
  readonly nodes: readonly Node[]
  readonly start: number
  /** Sources of single characters. */
  readonly sources: ReadonlySet<string>
  readonly hasAssertions: boolean
}

const END = 0

function graphOf(syntax: Syntax): Graph {
  const nodes: Node[] = [{ kind: 'end' }]
  const sources = new Set<string>()
  let hasAssertions = false

  const add = (node: Node): number => {
    if (nodes.length >= MAX_NODES) throw new PatternError('is too long: make its counts smaller')
    return nodes.push(node) - 1
  }

  /** The first node of a part that the node `next` follows. */
  const enter = (part: Syntax, next: number): number => {
    switch (part.kind) {
      case 'char':
        sources.add(part.source)
        return add({ kind: 'char', source: part.source, next })
      case 'assertion':
        hasAssertions = true
        for (const source of part.chars) sources.add(source)
        return add({ kind: 'assertion', source: part.source, next })
      case 'sequence':
        return part.of.reduceRight((after, one) => enter(one, after), next)
      case 'choice':
        return add({ kind: 'ways', to: part.of.map(one => enter(one, next)) })
      case 'repeat': {
        const ways = (on: number) => (part.isLazy ? [next, on] : [on, next])
        let entry = next
        if (part.max === Number.POSITIVE_INFINITY) {
          entry = add({ kind: 'ways', to: [] })
          nodes[entry] = { kind: 'ways', to: ways(enter(part.of, entry)) }
        } else {
          for (let left = part.max - part.min; left > 0; left--)
            entry = add({ kind: 'ways', to: ways(enter(part.of, entry)) })
        }
        for (let left = part.min; left > 0; left--) entry = enter(part.of, entry)
        return entry
      }
    }
  }

  const start = enter(syntax, END)
  return { nodes, start, sources, hasAssertions }
}

/** Reads texts from their end. A state is a set of nodes that may take a character and then reach the end of a match. */
interface Automaton {
  readonly alphabet: Alphabet
  /** The state after each state and class: `next[state * alphabet.size + class]`. The first state is 0. */
  readonly next: Uint16Array
  readonly sets: readonly Uint16Array[]
  /** Whether an assertion holds between two classes. */
  holds(source: string, before: number, after: number): boolean
}

function automatonOf(graph: Graph, alphabet: Alphabet, regex: RegExp): Automaton {
  const { size } = alphabet
  const holds = assertionsOf(alphabet, regex)
  const back = backwards(graph, alphabet, holds)
  const states = new States()
  const rows: number[][] = []
  for (const [id, state] of states.all.entries()) {
    const row = new Array<number>(size).fill(id)
    const before = back.before(state)
    for (let of = TAIL + 1; of < size; of++) {
      row[of] = states.idOf(before(of), graph.hasAssertions ? of : EDGE)
      if (back.work() > MAX_WORK || states.all.length > MAX_STATES)
        throw new PatternError('needs too many states: make its counts smaller, or split it in two')
    }
    rows.push(row)
  }
  return { alphabet, next: Uint16Array.from(rows.flat()), sets: states.all.map(({ set }) => set), holds }
}

/** Walks a graph from the end of matches to their beginning. */
function backwards({ nodes }: Graph, alphabet: Alphabet, holds: Automaton['holds']) {
  const { size } = alphabet
  const takes = takersOf(nodes, alphabet)
  /** The nodes that lead to each node: those that take a character, and others. */
  const takers: number[][] = nodes.map(() => [])
  const others: number[][] = nodes.map(() => [])
  for (const [id, node] of nodes.entries())
    for (const to of leadsTo(node)) (node.kind === 'char' ? takers : others)[to]!.push(id)
  const assertions = new Set(nodes.flatMap(node => (node.kind === 'assertion' ? [node.source] : [])))
  const marks = new Int32Array(nodes.length)
  let mark = 0
  let work = 0

  /** The nodes that take a character and lead to a set, if exactly these assertions hold. */
  const leadingTo = (set: Iterable<number>, holding: ReadonlySet<string>): Uint16Array => {
    mark++
    /** Whether a node is new, and leads there. */
    const passes = (id: number): boolean => {
      if (marks[id] === mark) return false
      const node = nodes[id]!
      if (node.kind === 'assertion' && !holding.has(node.source)) return false
      marks[id] = mark
      return true
    }
    const leading: number[] = []
    const queue = [END, ...set]
    for (let good = queue.pop(); good !== undefined; good = queue.pop()) {
      work += 1 + takers[good]!.length + others[good]!.length
      leading.push(...takers[good]!)
      for (const id of others[good]!) if (passes(id)) queue.push(id)
    }
    return Uint16Array.from(leading).sort()
  }

  return {
    /** The number of visited nodes. */
    work: () => work,
    /** The nodes that may take a character before the text that a state has read, by the class of that character. */
    before({ set, read }: PatternState): (of: number) => Uint16Array {
      const known = new Map<string, Uint16Array>()
      return of => {
        const holding = new Set([...assertions].filter(source => holds(source, of, read)))
        const key = [...holding].join()
        const leading = known.get(key) ?? leadingTo(set, holding)
        known.set(key, leading)
        // Not with `filter`: this is most of the work.
        const taking = new Uint16Array(leading.length)
        let count = 0
        for (const id of leading) if (takes[id * size + of] === 1) taking[count++] = id
        work += leading.length >> 3
        return taking.slice(0, count)
      }
    },
  }
}

/** Whether a node takes characters of a class: `[node * alphabet.size + class]`. */
function takersOf(nodes: readonly Node[], { size, has }: Alphabet): Uint8Array {
  const takes = new Uint8Array(nodes.length * size)
  for (const [id, node] of nodes.entries()) {
    if (node.kind !== 'char') continue
    for (let of = TAIL + 1; of < size; of++) takes[id * size + of] = has(node.source, of) ? 1 : 0
  }
  return takes
}

interface PatternState {
  /** In ascending order. */
  readonly set: Uint16Array
  /** The class of the character that was read last, if assertions depend on it. */
  readonly read: number
}

/** The states, without duplicates. */
class States {
  readonly all: PatternState[] = [{ set: new Uint16Array(0), read: EDGE }]
  readonly #byHash = new Map<number, number[]>([[EDGE, [0]]])

  idOf(set: Uint16Array, read: number): number {
    let hash = read
    for (const id of set) hash = (Math.imul(hash, 31) + id) | 0
    const like = this.#byHash.get(hash) ?? []
    const isSame = ({ set: other, read: last }: PatternState) =>
      last === read && other.length === set.length && other.every((id, index) => id === set[index])
    const known = like.find(id => isSame(this.all[id]!))
    if (known !== undefined) return known
    const id = this.all.push({ set, read }) - 1
    this.#byHash.set(hash, [...like, id])
    return id
  }
}

/** Asks `RegExp` whether assertions hold, once for each two classes. */
function assertionsOf(
  alphabet: Alphabet,
  { ignoreCase, dotAll, multiline, unicode }: RegExp,
): Automaton['holds'] {
  const flags = `y${ignoreCase ? 'i' : ''}${dotAll ? 's' : ''}${multiline ? 'm' : ''}${unicode ? 'u' : ''}`
  const known = new Map<string, boolean[]>()
  const ask = (source: string, before: string, after: string): boolean => {
    const regex = new RegExp(source, flags)
    regex.lastIndex = before.length
    return regex.test(before + after)
  }
  return (source, before, after) => {
    const answers = known.get(source) ?? []
    const at = before * alphabet.size + after
    answers[at] ??= ask(source, alphabet.sample(before), alphabet.sample(after))
    known.set(source, answers)
    return answers[at]
  }
}

/** Creates the reader of texts, which returns a finder of matches. */
function walkerOf(graph: Graph, automaton: Automaton): Pattern['in'] {
  const { alphabet, next, sets } = automaton
  const { size } = alphabet
  const step = stepsOf(graph, automaton)
  const beginnings = reachedFrom(graph)
  const mayBegin = Uint8Array.from(sets, set => (set.some(id => beginnings.has(id)) ? 1 : 0))

  /** Whether a match may begin anywhere. It stores nothing, since most texts have no match. */
  const hasBeginning = (text: string): boolean => {
    const { units } = alphabet
    if (units === undefined) return true
    for (let at = text.length - 1, state = 0; at >= 0; at--) {
      state = next[state * size + units[text.charCodeAt(at)]!]!
      if (mayBegin[state] === 1) return true
    }
    return false
  }

  return text => {
    if (!hasBeginning(text)) return undefined
    const { length } = text
    const classes = alphabet.classesIn(text)
    const states = new Uint16Array(length + 1)
    for (let at = length - 1, state = 0; at >= 0; at--) {
      state = next[state * size + classes[at]!]!
      states[at] = state
    }
    const before = (at: number) => (classes[at - 1] === TAIL ? classes[at - 2] : classes[at - 1]) ?? EDGE

    /** The end of the match that begins at a position. The same position if the match is empty, or if there is none. */
    const endOf = (begin: number): number => {
      let at = begin
      let on = step(graph.start, states[at]!, before(at), classes[at] ?? EDGE)
      while (on >= 0) {
        const taken = classes[at]!
        at += classes[at + 1] === TAIL ? 2 : 1
        on = step(on, states[at]!, taken, classes[at] ?? EDGE)
      }
      return on === ENDED ? at : begin
    }

    return from => {
      for (let at = from; at < length; at++) {
        if (mayBegin[states[at]!] === 0 || classes[at] === TAIL) continue
        const end = endOf(at)
        if (end > at) return { start: at, end }
      }
      return undefined
    }
  }
}

/** Results of a step other than a node. */
const ENDED = -1
const NOWHERE = -2

/**
 * Continues from a node on the first path that reaches the end of a match. Returns the node after the character that it takes, or
 * `ENDED`. Its arguments are the state of the automaton at this position, and the classes of the adjacent characters.
 */
function stepsOf({ nodes, hasAssertions }: Graph, { alphabet, sets, holds }: Automaton) {
  /** The next nodes, the preferred one last. */
  const waysOn = (node: Node, last: number, of: number): readonly number[] => {
    if (node.kind === 'ways') return node.to.toReversed()
    return node.kind === 'assertion' && holds(node.source, last, of) ? [node.next] : []
  }

  const search = (from: number, state: number, last: number, of: number): number => {
    const seen = new Set<number>()
    const stack = [from]
    for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
      const node = nodes[id]!
      if (node.kind === 'end') return ENDED
      if (node.kind === 'char' && sets[state]!.includes(id)) return node.next
      if (!seen.has(id)) stack.push(...waysOn(node, last, of))
      seen.add(id)
    }
    return NOWHERE
  }

  const asked = new Float64Array(2 ** (32 - SHIFT)).fill(-1)
  const answered = new Int32Array(asked.length)
  return (from: number, state: number, last: number, of: number): number => {
    // The state has the next character, if an assertion depends on it.
    const before = hasAssertions ? last : EDGE
    const key = (from * sets.length + state) * alphabet.size + before
    const at = (Math.imul(from, 0x9e37_79b1) ^ Math.imul(state, 0x85eb_ca6b) ^ before) >>> SHIFT
    if (asked[at] !== key) {
      asked[at] = key
      answered[at] = search(from, state, last, of)
    }
    return answered[at]!
  }
}

/** The nodes that the start reaches before a character is taken. */
function reachedFrom({ nodes, start }: Graph): ReadonlySet<number> {
  const reached = new Set([start])
  for (const id of reached) {
    const node = nodes[id]!
    if (node.kind !== 'char') for (const to of leadsTo(node)) reached.add(to)
  }
  return reached
}

function leadsTo(node: Node): readonly number[] {
  return node.kind === 'ways' ? node.to : node.kind === 'end' ? [] : [node.next]
}
