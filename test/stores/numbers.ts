import { ServableError } from '../../src/base/errors.ts'
import type { SingleTryStore } from '../../src/stores/remote/retrying.ts'
import type { Reader, Soon, Transaction } from '../../src/stores/store.ts'

export const REFUSAL: ServableError = new ServableError('run_not_found', 'There is no such run')
export const UNAVAILABLE = { code: 'state_unavailable' } as const

/** A fault of commits: none can begin, or everything is lost after this many works. */
export type Fault = 'busy' | { readonly lostAfter: number }

/** A minimal store. It stores numbers one after another. */
export function numbers() {
  let written: number[] = []
  let draft: number[] = []
  let fault: Fault | undefined
  let commits = 0
  const store: SingleTryStore = {
    read(work) {
      if (fault !== undefined) throw new Error('database is locked')
      return work({} as Reader)
    },
    commit(works) {
      commits++
      if (fault === 'busy') throw new Error('database is locked')
      draft = [...written]
      const left = fault?.lostAfter ?? Number.POSITIVE_INFINITY
      const outcomes = works.map((work, index) => {
        if (index >= left) throw new Error('the disk is gone')
        const before = [...draft]
        try {
          return { value: work({} as Transaction) }
        } catch (error) {
          draft = before
          return { error }
        }
      })
      if (fault !== undefined) throw new Error('the disk is gone')
      written = draft
      return outcomes
    },
  }
  return {
    store,
    /** A work that writes a number and gives the count after that. */
    add: (number: number) => () => draft.push(number),
    fail(next: Fault | undefined) {
      fault = next
    },
    get written(): readonly number[] {
      return written
    },
    get commits() {
      return commits
    },
  }
}

/** The outcome of a write that may throw or reject. */
export async function outcomeOf(write: () => Soon<unknown>): Promise<PromiseSettledResult<unknown>> {
  const [result] = await Promise.allSettled([new Promise(resolve => resolve(write()))])
  return result
}
