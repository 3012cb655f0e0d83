import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Names } from '../../src/agents/work/scope.ts'

it('counts a name from its second occurrence on, and begins with the path of the body', () => {
  const names = new Names('outer/')
  expect(['a', 'b', 'a', 'a'].map(name => names.next(name))).toEqual([
    'outer/a',
    'outer/b',
    'outer/a#2',
    'outer/a#3',
  ])
  expect(new Names().next('a')).toBe('a')
})

it('gives no two things the same path, whatever their names hold', () => {
  const name = fc.string({ unit: fc.constantFrom('a', '#', '2', '/', '%') })
  fc.assert(
    fc.property(fc.array(fc.tuple(name, fc.array(name, { maxLength: 4 })), { maxLength: 12 }), tree => {
      const outer = new Names()
      const paths = tree.flatMap(([own, inside]) => {
        const path = outer.next(own)
        const inner = new Names(`${path}/`)
        return [path, ...inside.map(each => inner.next(each))]
      })
      expect(new Set(paths).size).toBe(paths.length)
    }),
  )
})
