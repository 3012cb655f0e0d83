/**
 * Models in OpenAI's form.
 *
 * @module
 */

import type { Offered } from '../models/offered.ts'

/** A model in a list. */
export interface Model {
  readonly id: string
  readonly object: 'model'
  /** Seconds since 1970. */
  readonly created: number
  readonly owned_by: string
}

/** A model as OpenAI's clients read it. */
export function modelOf({ id, kind, createdMs }: Offered): Model {
  return { id, object: 'model', created: Math.floor(createdMs / 1000), owned_by: kind }
}
