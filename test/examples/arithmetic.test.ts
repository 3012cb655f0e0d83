import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { evaluate, withoutNoise } from '../../examples/agents/arithmetic.ts'
import { findArithmetic } from '../../examples/agents/find-arithmetic.ts'
import { messageOf } from '../../src/base/errors.ts'
import { reckon, type Tree, tree, writeWith } from './expression-tree.ts'

/** The value, or the reason why there is none. */
function outcome(work: () => number): number | string {
  try {
    return work()
  } catch (error) {
    return messageOf(error)
  }
}

describe('evaluate', () => {
  it.each([
    ['3*(4+5) - 2^3', 19],
    ['1 + 2 * 3', 7],
    ['8 / 4 / 2', 1],
    ['10 - 4 - 3', 3],
    ['2^3^2', 512],
    ['-2^2', -4],
    ['(-2)^2', 4],
    ['2^-1', 0.5],
    ['2 ** 3', 8],
    ['--3', 3],
    ['+3 - -3', 6],
    ['7 % 3', 1],
    ['-7 % 3', -1],
    ['7 mod 3', 1],
    ['12 % of 50', 6],
    ['12% of (20 + 30)', 6],
    ['50 + 10%', 50.1],
    ['10%', 0.1],
    ['50% - 3', -2.5],
    ['50%%', 0.005],
    ['6 × 7 ÷ 2 − 1', 20],
    ['2·3', 6],
    ['2 x 3', 6],
    ['2 plus 3 times 4 minus 1', 13],
    ['9 divided by 3 to the power of 2', 1],
    ['1.5e3 + .5', 1500.5],
    ['2E-2', 0.02],
    ['1,234,567.5 + 1', 1234568.5],
    ['2^10 * (1 - (2 - (3 - 4)))', -2048],
  ])('%s is %d', (expression, value) => {
    expect(evaluate(expression)).toBeCloseTo(value, 12)
  })

  it.each([
    ['1/0', 'it divides by zero'],
    ['5 % (3 - 3)', 'it divides by zero'],
    ['0^-1', 'it divides by zero'],
    ['1/(0.1 + 0.2 - 0.3)', 'it divides by zero'],
    ['(-8)^0.5', 'it has no real result'],
    ['10^400', 'the result is too large'],
    ['1e999', 'the result is too large'],
    ['3 + * 4', 'a number is missing before `*`'],
    ['3 +', 'a number is missing at the end'],
    ['', 'a number is missing at the end'],
    ['()', 'a number is missing before `)`'],
    ['2*(3', '`)` is missing at the end'],
    ['2(3)', 'there is no place for `(`'],
    ['2)', 'there is no place for `)`'],
    ['1 2', 'there is no place for `2`'],
    ['2 + cats', 'a number is missing before `cats`'],
    ['process.exit(1)', 'a number is missing before `process`'],
    ['1.2.3', 'a number is missing before `1`'],
  ])('%j fails: %s', (expression, reason) => {
    expect(outcome(() => evaluate(expression))).toBe(reason)
  })

  it('bounds length and depth instead of exhausting the stack', () => {
    expect(evaluate(`${'('.repeat(99)}1${')'.repeat(99)}`)).toBe(1)
    for (const nested of ['('.repeat(900), '-'.repeat(900), '2^'.repeat(400)]) {
      expect(outcome(() => evaluate(`${nested}1`))).toBe('it is nested deeper than 100 levels')
    }
    expect(evaluate('1+'.repeat(499).concat('1'))).toBe(500)
    expect(outcome(() => evaluate('1+'.repeat(600).concat('1')))).toBe('it is longer than 1000 characters')
  })

  it('agrees with a reference over random expressions', () => {
    fc.assert(
      fc.property(tree, fc.infiniteStream(fc.nat(9)), (expression, dice) => {
        const text = writeWith(expression, dice)
        fc.pre(text.length <= 1000)
        const value = reckon(expression)
        if (Number.isFinite(value)) expect(evaluate(text)).toBe(value)
        else expect(() => evaluate(text)).toThrow()
      }),
      { numRuns: 1000 },
    )
  })

  it('gives a finite number or a reason for any text', () => {
    const signs = fc.string({ unit: fc.constantFrom(...'0123456789.,+-*/%^() ex×of') })
    fc.assert(
      fc.property(fc.oneof(fc.string(), signs), text => {
        const value = outcome(() => evaluate(text))
        expect(value).not.toBe('')
        if (typeof value === 'number') expect(value).toSatisfy(Number.isFinite)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('withoutNoise', () => {
  it.each([
    ['0.1 + 0.2', 0.3],
    ['0.3 - 0.1 - 0.2', 0],
    ['1.1 - 1 - 0.1', 0],
    ['1.1 * 1.1', 1.21],
    ['1 / 3 * 3', 1],
    ['2^53', 2 ** 53],
    ['0.1 * 3', 0.3],
    ['1e-20 + 0', 1e-20],
  ])('%s is %d', (expression, value) => {
    expect(withoutNoise(evaluate(expression))).toBe(value)
  })

  it('has one zero', () => {
    expect(Object.is(withoutNoise(evaluate('-0 * 5')), 0)).toBe(true)
  })
})

describe('findArithmetic', () => {
  it.each<[string, string[]]>([
    ['what is 3*(4+5) - 2^3?', ['3*(4+5) - 2^3']],
    ['12 % of 50', ['12 % of 50']],
    ['Add 1+1, then 2 * 2; and (3 - 1) / 2.', ['1+1', '2 * 2', '(3 - 1) / 2']],
    ['1 + 2\n3 + 4', ['1 + 2', '3 + 4']],
    ['1+2 3+4', ['1+2', '3+4']],
    ['- 3 + 4', ['3 + 4']],
    ['-3 + 4', ['-3 + 4']],
    ['We (that is 3+4 people) met', ['3+4']],
    ['(3+4 or so)', ['3+4']],
    ['((1+2)*3)', ['((1+2)*3)']],
    ['3 + * 4', ['3 + * 4']],
    ['2 + (3', ['2 + (3']],
    ['f(3+4)', ['(3+4)']],
    ['1,000 + 2,000', ['1,000 + 2,000']],
    ['What is 100 - 37, please?', ['100 - 37']],
    ['3-5', ['3-5']],
    ['3 plus 4', ['3 plus 4']],
  ])('finds the arithmetic of %j', (message, expressions) => {
    expect(findArithmetic(message)).toEqual(expressions)
  })

  it.each([
    'hello',
    '',
    '42',
    'It grew by 5% in 2020.',
    'from 3-5 to 24/7',
    'It began on 2024-01-05.',
    'The years 1990 - 1995 were good ones.',
    'Call +1 (555) 123-4567 now',
    'version 1.2.3',
    'COVID-19 and B2B, 3x4 and 1920x1080',
    '3 + x',
    'the 3 times',
    '- one\n- 2\n* 3',
    '**3** and *4*',
    'C++ 3',
    '1,5 + 2',
    'Chapter 3 - The Beginning',
  ])('finds none in %j', message => {
    expect(findArithmetic(message)).toEqual([])
  })

  it('finds only what stands in the message, in order', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'12 .,+-*/%^()\nax') }), message => {
        let from = 0
        for (const expression of findArithmetic(message)) {
          const at = message.indexOf(expression, from)
          expect(at).toBeGreaterThanOrEqual(from)
          from = at + expression.length
        }
      }),
      { numRuns: 500 },
    )
  })

  it('finds a whole random expression among words', () => {
    const binary = tree.filter((node: Tree) => typeof node !== 'number' && node.sign !== 'negate')
    fc.assert(
      fc.property(binary, fc.infiniteStream(fc.nat(9)), (expression, dice) => {
        const text = writeWith(expression, dice)
        expect(findArithmetic(`what is ${text}?`)).toEqual([text])
      }),
    )
  })
})
