import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lateBase, lateStore } from '../contracts/store/late.ts'
import { here, runSteps } from '../contracts/store/steps.ts'
import { storeContract } from '../contracts/store.ts'

describe('a store that answers late', () => storeContract(() => here(lateStore())))
