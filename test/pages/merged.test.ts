/** Snippets that change a file. */
import { expect, it } from 'vitest'
import { merged } from './merged.ts'

const FILE = `import { tool } from 'servable'
import { z } from 'zod'

/** One. */
const one = {
  a: 1,

  b: 2,
}

export default { one }`

it('takes the place of what has the same name, and nothing else', () => {
  expect(merged(FILE, 'const one = 1')).toBe(FILE.replace(/\/\*\* One[\s\S]*?\n}\n/, 'const one = 1\n'))
  expect(merged(FILE, 'export default {}')).toBe(FILE.replace('{ one }', '{}'))
  expect(merged(FILE, "import { Agent, tool } from 'servable'")).toBe(
    FILE.replace('{ tool }', '{ Agent, tool }'),
  )
})

it('adds what is new above what comes after it, or at the end', () => {
  const two = 'const two = 2'
  expect(merged(FILE, `${two}\n\nexport default { one, two }`)).toBe(
    FILE.replace('export default { one }', `${two}\n\nexport default { one, two }`),
  )
  expect(merged(FILE, two)).toBe(`${FILE}\n\n${two}`)
})

it('sorts imports as the rest of the code does', () => {
  const all = ["import './a.ts'", "import b from '../b.ts'", "import c from 'c'", "import d from 'node:d'"]
  expect(merged(all.slice(1).join('\n'), all[0] ?? '')).toBe(all.toReversed().join('\n'))
})
