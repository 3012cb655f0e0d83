/**
 * Data parts of 0.2 and 0.3 contain only objects. Those of 1.0 contain any JSON. A value that is not an object is sent as
 * `{ value }` to clients of 0.2 and 0.3. The part's metadata marks it as the official SDKs do.
 *
 * @module
 */

import type { Metadata } from '../../../agents/run-types.ts'
import { isObject } from '../../../base/validation.ts'
import type { Part } from '../model.ts'

const MARK = 'data_part_compat'

/** The members of a part that contains an object. */
export interface ObjectData {
  readonly data: Metadata
  readonly metadata?: Metadata
}

/** Wraps any JSON value as an object. */
export function wrapData(data: unknown, metadata: Metadata | undefined): ObjectData {
  if (!isObject(data)) return { data: { value: data ?? null }, metadata: { ...metadata, [MARK]: true } }
  return metadata === undefined ? { data } : { data, metadata }
}

/** Makes the part from an object, and unwraps a marked value. */
export function unwrapData(data: Metadata, metadata: Metadata | undefined): Part {
  if (metadata?.[MARK] !== true || !Object.hasOwn(data, 'value')) return { data, metadata }
  const { [MARK]: _, ...rest } = metadata
  return { data: data.value, metadata: Object.keys(rest).length === 0 ? undefined : rest }
}
