/**
 * Data parts of 0.2 and 0.3 hold objects only; those of 1.0 hold any JSON. What is no object travels as
 * `{ value }`, marked in the part's metadata the way the official SDKs mark it.
 *
 * @module
 */

import { isObject } from '../../validation.ts'
import type { Metadata, Part } from '../model.ts'

const MARK = 'data_part_compat'

/** The members of a part that holds an object. */
export interface ObjectData {
  readonly data: Metadata
  readonly metadata?: Metadata
}

/** Any JSON as an object. */
export function wrapData(data: unknown, metadata: Metadata | undefined): ObjectData {
  if (!isObject(data)) return { data: { value: data ?? null }, metadata: { ...metadata, [MARK]: true } }
  return metadata === undefined ? { data } : { data, metadata }
}

/** The part that an object stands for. */
export function unwrapData(data: Metadata, metadata: Metadata | undefined): Part {
  if (metadata?.[MARK] !== true || !Object.hasOwn(data, 'value')) return { data, metadata }
  const { [MARK]: _, ...rest } = metadata
  return { data: data.value, metadata: Object.keys(rest).length === 0 ? undefined : rest }
}
