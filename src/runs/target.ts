/** The target of a run. */

import type { Kind, ServableAgent } from '../agents/contract.ts'
import type { Source } from '../agents/derive.ts'

/** A servable under the kind and name by which it was requested. */
export interface Target {
  readonly kind: Kind
  readonly name: string
  /** The part of the service with its own names, if the servable belongs to one. */
  readonly scope?: string
  readonly servable: Source &
    Pick<
      Partial<ServableAgent>,
      'description' | 'model' | 'answers' | 'output' | 'resume' | 'steering' | 'version' | 'graph' | 'page'
    >
}
