/**
 * Runs the tests: all of them, or those of the rooms of `src` in the first arguments. For rooms, contracts run only on Node
 * and in memory. All other arguments go to Vitest.
 */
import { spawnSync } from 'node:child_process'
import process from 'node:process'
import { ROOMS, testsOf } from './rooms.ts'

const given = process.argv.slice(2)
const others = given.findIndex(argument => !ROOMS.includes(argument))
const rooms = given.slice(0, others === -1 ? given.length : others)
const chosen = rooms.length > 0 ? [...rooms.flatMap(testsOf), '--tags-filter=!elsewhere && !long'] : []

const args = ['run', '--config', 'test/vitest.config.ts', ...chosen, ...given.slice(rooms.length)]
const { status } = spawnSync('vitest', args, { stdio: 'inherit' })
if (rooms.length > 0) {
  console.log('Left out: other runtimes and stores, and what takes long. `npm test` alone runs everything.')
}
process.exitCode = status ?? 1
