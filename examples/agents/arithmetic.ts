/**
 * Evaluates arithmetic by recursive descent.
 *
 * ```
 * sum     = product { ("+" | "-") product }
 * product = signed { ("*" | "/" | "mod" | "% of" | "%" before an operand) signed }
 * signed  = ("-" | "+") signed | power
 * power   = percent [ "^" signed ]
 * percent = primary { "%" }
 * primary = number | "(" sum ")"
 * ```
 * So `^` groups to the right and binds more than a sign before it: `-2^2` is -4. A `%` before a number or a
 * parenthesis is the remainder (`7 % 3` is 1), any other one is a hundredth (`50 + 10%` is 50.1).
 */

import { ServableError } from '../../src/index.ts'
import { type Operator, type Token, tokenize } from './tokens.ts'

/** Most characters of an expression. */
export const MAX_LENGTH = 1000
/** Most signs, powers and parentheses inside each other, so that no expression exhausts the stack. */
const MAX_DEPTH = 100

/**
 * The value of an expression, which is a finite number. Throws `invalid_input` with a readable reason.
 *
 * @example
 * evaluate('3*(4+5) - 2^3') // 19
 */
export function evaluate(expression: string): number {
  if (expression.length > MAX_LENGTH) throw wrong(`it is longer than ${MAX_LENGTH} characters`)
  return new Parser([...tokenize(expression)]).parse()
}

/** Removes the noise of binary fractions from a decimal result: 0.1 + 0.2 is 0.3 to fifteen digits. */
export function withoutNoise(value: number): number {
  if (Number.isInteger(value)) return value + 0 // no -0
  return Number(value.toPrecision(15))
}

type Operation = (a: number, b: number) => number

const SUMS: ReadonlyMap<Operator, Operation> = new Map<Operator, Operation>([
  ['+', add],
  ['-', (a, b) => add(a, -b)],
])

const PRODUCTS: ReadonlyMap<Operator, Operation> = new Map<Operator, Operation>([
  ['*', (a, b) => a * b],
  ['of', (a, b) => (a / 100) * b],
  ['/', (a, b) => a / nonZero(b)],
  ['mod', (a, b) => a % nonZero(b)],
  ['%', (a, b) => a % nonZero(b)],
])

class Parser {
  readonly #tokens: readonly Token[]
  #at = 0
  #depth = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  parse(): number {
    const value = this.#sum()
    const rest = this.#tokens[this.#at]
    if (rest !== undefined) throw wrong(`there is no place for \`${rest.text}\``)
    return value
  }

  #sum(): number {
    return this.#chain(SUMS, () => this.#product())
  }

  #product(): number {
    return this.#chain(PRODUCTS, () => this.#signed())
  }

  #chain(operations: ReadonlyMap<Operator, Operation>, operand: () => number): number {
    let value = operand()
    for (let operation = this.#take(operations); operation; operation = this.#take(operations)) {
      value = finite(operation(value, operand()))
    }
    return value
  }

  #signed(): number {
    if (++this.#depth > MAX_DEPTH) throw wrong(`it is nested deeper than ${MAX_DEPTH} levels`)
    const value = this.#skip('-') ? -this.#signed() : this.#skip('+') ? this.#signed() : this.#power()
    this.#depth--
    return value
  }

  #power(): number {
    const base = this.#percent()
    if (!this.#skip('^')) return base
    const exponent = this.#signed()
    if (base === 0 && exponent < 0) throw wrong('it divides by zero')
    return finite(base ** exponent)
  }

  #percent(): number {
    let value = this.#primary()
    while (this.#operator() === '%' && !this.#isOperand(this.#at + 1)) {
      this.#at++
      value /= 100
    }
    return value
  }

  #primary(): number {
    const token = this.#tokens[this.#at++]
    if (token?.kind === 'number') return finite(token.value)
    if (token?.kind !== 'operator' || token.operator !== '(') throw expected('a number', token)
    const value = this.#sum()
    if (!this.#skip(')')) throw expected('`)`', this.#tokens[this.#at])
    return value
  }

  #operator(): Operator | undefined {
    const token = this.#tokens[this.#at]
    return token?.kind === 'operator' ? token.operator : undefined
  }

  #skip(operator: Operator): boolean {
    if (this.#operator() !== operator) return false
    this.#at++
    return true
  }

  #take(operations: ReadonlyMap<Operator, Operation>): Operation | undefined {
    const operator = this.#operator()
    const operation = operator && operations.get(operator)
    if (operation) this.#at++
    return operation
  }

  #isOperand(at: number): boolean {
    const token = this.#tokens[at]
    return token?.kind === 'number' || (token?.kind === 'operator' && token.operator === '(')
  }
}

/** Adds two numbers. If a difference is only noise of their fractions, the result is zero. */
function add(a: number, b: number): number {
  const sum = a + b
  if (Number.isInteger(a) && Number.isInteger(b)) return sum
  return Math.abs(sum) < 1e-15 * Math.max(Math.abs(a), Math.abs(b)) ? 0 : sum
}

function nonZero(divisor: number): number {
  if (divisor === 0) throw wrong('it divides by zero')
  return divisor
}

function finite(value: number): number {
  if (Number.isFinite(value)) return value
  throw wrong(Number.isNaN(value) ? 'it has no real result' : 'the result is too large')
}

function expected(what: string, token: Token | undefined): ServableError {
  return wrong(`${what} is missing ${token === undefined ? 'at the end' : `before \`${token.text}\``}`)
}

function wrong(reason: string): ServableError {
  return new ServableError('invalid_input', reason)
}
