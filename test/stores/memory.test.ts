import { describe } from 'vitest'
import { memoryStore } from '../../src/stores/memory.ts'
import { here } from '../contracts/store/steps.ts'
import { storeContract } from '../contracts/store.ts'

describe('memoryStore', () => storeContract(() => here(memoryStore())))
