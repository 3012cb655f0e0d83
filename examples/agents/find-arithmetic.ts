/** Finds the arithmetic in a message. */

import { type Operator, type Token, tokenize } from './tokens.ts'

/** Words that make a question of `3-5` or `24/7`. Without them it may be a range or a date. */
const ASKING = new Set(
  `a also and answer are calculate can compute could difference do equal equals evaluate find for give hello hi how
  is it me much of or out please quotient result solve sum tell thanks that the then to value what what's whats
  what’s work you`.split(/\s+/),
)
const RANGE = /^\d[\d.,]*%?(?:\s*[-/]\s*\d[\d.,]*%?)+$/

const CAN_BEGIN: ReadonlySet<Operator> = new Set<Operator>(['+', '-', '('])
const CAN_END: ReadonlySet<Operator> = new Set<Operator>(['%', ')'])

/**
 * The arithmetic expressions in a message, unchanged. An expression is a run of numbers and operators on one line, with an
 * operator between two numbers. It need not be valid: `3 + * 4` counts too.
 */
export function findArithmetic(message: string): string[] {
  const tokens = [...tokenize(message)]
  const asks = tokens.every(token => !isWord(token) || ASKING.has(token.text.toLowerCase()))
  return runsOf(tokens, message)
    .map(trim)
    .filter(isArithmetic)
    .map(run => message.slice(run[0]?.start, run.at(-1)?.end))
    .filter(expression => asks || !RANGE.test(expression))
}

function isWord(token: Token): boolean {
  return token.kind === 'other' && /\p{L}/u.test(token.text)
}

function runsOf(tokens: readonly Token[], message: string): Token[][] {
  const runs: Token[][] = []
  let before: Token | undefined
  for (const token of tokens) {
    if (token.kind !== 'other') {
      if (before === undefined || parted(before, token, message)) runs.push([])
      runs.at(-1)?.push(token)
    }
    before = token.kind === 'other' ? undefined : token
  }
  return runs
}

/** Whether two tokens belong to different expressions: at a line break, and where a number follows a number or a `)`. */
function parted(before: Token, token: Token, message: string): boolean {
  const ended = before.kind === 'number' || is(before, ')')
  return (ended && token.kind === 'number') || message.slice(before.end, token.start).includes('\n')
}

/** Removes surrounding prose from both ends: bullets, dashes, the parentheses of a remark. */
function trim(run: readonly Token[]): Token[] {
  let [start, end] = [0, run.length]
  let open = run.reduce((sum, token) => sum + depthOf(token), 0)
  for (;;) {
    const [first, last] = [run[start], run[end - 1]]
    if (start >= end || first === undefined || last === undefined) return []
    if (!canBegin(first, run[start + 1]) || (open > 0 && is(first, '('))) {
      open -= depthOf(first)
      start++
    } else if (!canEnd(last) || (open < 0 && is(last, ')'))) {
      open -= depthOf(last)
      end--
    } else return run.slice(start, end)
  }
}

function depthOf(token: Token): number {
  return is(token, '(') ? 1 : is(token, ')') ? -1 : 0
}

/** Whether a token can begin an expression. A sign with a space after it is a bullet or a dash. */
function canBegin(token: Token, next: Token | undefined): boolean {
  if (token.kind !== 'operator') return true
  return CAN_BEGIN.has(token.operator) && (token.operator === '(' || token.end === next?.start)
}

function canEnd(token: Token): boolean {
  return token.kind !== 'operator' || CAN_END.has(token.operator)
}

function isArithmetic(run: readonly Token[]): boolean {
  const numbers = run.filter(token => token.kind === 'number').length
  return numbers > 1 && run.some((token, index) => index > 0 && isBinary(token))
}

function isBinary(token: Token): boolean {
  return token.kind === 'operator' && token.operator !== '(' && token.operator !== ')'
}

function is(token: Token, operator: Operator): boolean {
  return token.kind === 'operator' && token.operator === operator
}
