import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { ROOMS, testsOf } from './rooms.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

it.each(ROOMS)('the room %s has tests', room => {
  const missing = testsOf(room).filter(path => !existsSync(join(root, path)))
  expect(missing).toEqual([])
})
