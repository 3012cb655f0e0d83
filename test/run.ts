/**
 * Runs the tests: those of every day, all of them (`all`), or those of the rooms of `src` in the first arguments. The tests of every
 * day leave out files with the tag `long`. For rooms, contracts run only on Node and in memory. All other arguments go to Vitest:
 * with the path of a file, they choose.
 */
import { spawnSync } from 'node:child_process'
import process from 'node:process'
import { ROOMS, testsOf } from './rooms.ts'

const given = process.argv.slice(2)
const isAll = given[0] === 'all'
const named = isAll ? given.slice(1) : given
const others = named.findIndex(argument => !ROOMS.includes(argument))
const rooms = named.slice(0, others === -1 ? named.length : others)
const rest = named.slice(rooms.length)

/** What is chosen, and what a person should know of it. */
function choice(): { readonly args: readonly string[]; readonly note?: string } {
  if (rooms.length > 0)
    return {
      args: [...rooms.flatMap(testsOf), '--tags-filter=!elsewhere && !long'],
      note: 'Left out: other runtimes and stores, and what takes long.',
    }
  if (isAll || rest.some(argument => argument.startsWith('test/'))) return { args: [] }
  return {
    args: ['--tags-filter=!long'],
    note: 'Left out: what takes long, such as processes that are killed, Next.js and PostgreSQL. `npm test -- all` runs everything.',
  }
}

const { args, note } = choice()
const { status } = spawnSync('vitest', ['run', '--config', 'test/vitest.config.ts', ...args, ...rest], {
  stdio: 'inherit',
})
if (note !== undefined) console.log(note)
process.exitCode = status ?? 1
