/** Tests that need a program of the system. Where it is not installed, they are skipped, and say so. */
import { describe, it, type TestContext } from 'vitest'
import { fileOf, noteOf, type Program } from './programs.ts'

/** Vitest's functions for tests that need programs. */
export function needing(...programs: readonly Program[]): {
  readonly describe: typeof describe
  readonly it: typeof it
} {
  const missing = programs.find(program => fileOf(program) === undefined)
  if (missing === undefined) return { describe, it }
  const note = ` (${noteOf(missing)})`
  return { describe: noting(describe.skip, note) as never, it: noting(it.skip, note) as never }
}

/** For a test that finds out late that it needs one. */
export function skipWithout(program: Program, { skip }: Pick<TestContext, 'skip'>): void {
  skip(fileOf(program) === undefined, noteOf(program))
}

/** One of these functions that adds a note to each title. `each` and `for` give such a function. */
function noting<F extends (...all: never[]) => unknown>(tests: F, note: string): F {
  return new Proxy(tests, {
    apply: (_, self, [title, ...rest]) => Reflect.apply(tests, self, [`${title}${note}`, ...rest]),
    get(_, key) {
      const member: unknown = Reflect.get(tests, key)
      if (typeof member !== 'function') return member
      if (key === 'each' || key === 'for')
        return (...cases: unknown[]) => noting(Reflect.apply(member, tests, cases) as never, note)
      return noting(member as never, note)
    },
  })
}
