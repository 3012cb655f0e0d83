/** Random arithmetic as trees: a reference that needs no parser. */

import fc from 'fast-check'

type Sign = '+' | '-' | '*' | '/' | '%' | '^' | 'negate'

/** A number, or an operation. `negate` has its operand on the right. */
export type Tree = number | { readonly sign: Sign; readonly left: Tree; readonly right: Tree }

// Halves, quarters and eighths are exact binary fractions, so both sides agree to the last bit.
const leaf = fc.integer({ min: 0, max: 80 }).map(number => number / 8)
const whole = fc.integer({ min: 1, max: 9 })

/** Divisors are powers of two and exponents are small, so that results stay exact for long. */
export const tree: fc.Arbitrary<Tree> = fc.letrec<{ tree: Tree; operation: Tree }>(tie => ({
  tree: fc.oneof({ maxDepth: 5, withCrossShrink: true }, leaf, tie('operation')),
  operation: fc.oneof(
    operation('+', tie('tree'), tie('tree')),
    operation('-', tie('tree'), tie('tree')),
    operation('*', tie('tree'), tie('tree')),
    operation('/', tie('tree'), fc.constantFrom(0.5, 2, 4)),
    operation('%', tie('tree'), whole),
    operation('^', tie('tree'), fc.integer({ min: 0, max: 3 })),
    operation('negate', fc.constant(0), tie('tree')),
  ),
})).tree

function operation(sign: Sign, left: fc.Arbitrary<Tree>, right: fc.Arbitrary<Tree>): fc.Arbitrary<Tree> {
  return fc.record({ sign: fc.constant(sign), left, right })
}

/** The value. Not finite if there is none. */
export function reckon(node: Tree): number {
  if (typeof node === 'number') return node
  const [a, b] = [reckon(node.left), reckon(node.right)]
  if (!Number.isFinite(a) || !Number.isFinite(b)) return Number.NaN
  switch (node.sign) {
    case '+':
      return a + b
    case '-':
      return a - b
    case '*':
      return a * b
    case '/':
      return a / b
    case '%':
      return a % b
    case '^':
      return a ** b
    case 'negate':
      return -b
  }
}

const STRENGTH: Readonly<Record<Sign, number>> = { '+': 1, '-': 1, '*': 2, '/': 2, '%': 2, negate: 3, '^': 4 }

/** Writes a tree with the necessary parentheses, and with random spaces and further parentheses. */
export function writeWith(node: Tree, dice: Iterator<number>): string {
  const text = typeof node === 'number' ? String(node) : writeOperation(node, dice)
  return roll(dice) === 0 ? `(${text})` : text
}

function writeOperation(node: Exclude<Tree, number>, dice: Iterator<number>): string {
  const { sign, left, right } = node
  const strength = STRENGTH[sign]
  if (sign === 'negate') return `-${inside(right, strength, dice)}`
  const gap = roll(dice) < 5 ? ' ' : ''
  // Operators of one precedence group to the left, except powers.
  const before = inside(left, sign === '^' ? strength + 1 : strength, dice)
  const after = inside(right, sign === '^' ? strength : strength + 1, dice)
  return `${before}${gap}${sign}${gap}${after}`
}

function inside(node: Tree, strength: number, dice: Iterator<number>): string {
  const text = writeWith(node, dice)
  return typeof node === 'number' || STRENGTH[node.sign] >= strength ? text : `(${text})`
}

function roll(dice: Iterator<number>): number {
  return dice.next().value ?? 0
}
