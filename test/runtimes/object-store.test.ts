import { afterAll, beforeAll, describe } from 'vitest'
import { there } from '../contracts/store/steps.ts'
import { storeContract } from '../contracts/store.ts'
import { type Runtime, startWorkerd } from './harness.ts'

describe('objectStore', () => {
  let workerd: Runtime | undefined
  let objects = 0
  beforeAll(async () => {
    workerd = await startWorkerd('test/runtimes/entries/store.ts')
  })
  afterAll(() => workerd?.stop())

  storeContract(() => there(`${workerd?.url}/${++objects}`))
})
