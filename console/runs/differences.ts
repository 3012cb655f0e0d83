/** What is different between two texts, by words. */

/** A piece of a text. */
export interface Piece {
  readonly text: string
  readonly isDifferent: boolean
}

/** The most comparisons of words. A piece in which more are needed is different as a whole. */
const MOST = 1_000_000

/** Marks in each of two texts the words that the other one does not have there. */
export function differences(a: string, b: string): readonly [readonly Piece[], readonly Piece[]] {
  const [left, right] = [wordsOf(a), wordsOf(b)]
  const shortest = Math.min(left.length, right.length)
  let start = 0
  while (start < shortest && left[start] === right[start]) start++
  let end = 0
  while (end < shortest - start && left.at(-1 - end) === right.at(-1 - end)) end++
  const middle = [left, right].map(words => words.slice(start, words.length - end)) as [string[], string[]]
  const same = sameIn(...middle)
  const marked = (words: readonly string[], side: 0 | 1) => {
    const isSame = (index: number) =>
      index < start || index >= words.length - end || same[side].has(index - start)
    return joined(words.map((text, index) => ({ text, isDifferent: !isSame(index) })))
  }
  return [marked(left, 0), marked(right, 1)]
}

function wordsOf(text: string): readonly string[] {
  return text.match(/\s+|\S+/g) ?? []
}

/** The places of a longest common sequence, in each of the two lists. */
function sameIn(a: readonly string[], b: readonly string[]): readonly [Set<number>, Set<number>] {
  const same: readonly [Set<number>, Set<number>] = [new Set(), new Set()]
  if (a.length * b.length > MOST) return same
  const width = b.length + 1
  // The length of the longest one from there on.
  const lengths = new Uint32Array((a.length + 1) * width)
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      same[0].add(i++)
      same[1].add(j++)
    } else if (at(i + 1, j) >= at(i, j + 1)) i++
    else j++
  }
  return same
}

/** Neighbours of one kind are one piece. */
function joined(pieces: readonly Piece[]): readonly Piece[] {
  const all: Piece[] = []
  for (const piece of pieces) {
    const last = all.at(-1)
    if (last?.isDifferent === piece.isDifferent)
      all[all.length - 1] = { ...last, text: last.text + piece.text }
    else all.push(piece)
  }
  return all
}
