/** What is run. */

import type { Kind, ServableAgent } from '../agents/contract.ts'
import type { Source } from '../agents/derive.ts'

/** A servable under the kind and name by which it was asked for. */
export interface Target {
  readonly kind: Kind
  readonly name: string
  /** The part that has names of its own, where it is one of those. */
  readonly scope?: string
  readonly servable: Source &
    Pick<Partial<ServableAgent>, 'description' | 'model' | 'answers' | 'output' | 'resume' | 'version'>
}
