/**
 * Reads the steps that another servable sends in the metadata of a status.
 *
 * @module
 */

import type { StepEvent } from '../../agents/contract.ts'
import { isObject } from '../../base/validation.ts'

const STATUSES = ['started', 'progress', 'completed', 'failed'] as const

/** The step in the metadata of a status. Undefined if there is none. */
export function stepIn(metadata: unknown): StepEvent | undefined {
  const step = isObject(metadata) ? metadata.step : undefined
  if (!isObject(step) || typeof step.name !== 'string') return undefined
  const status = STATUSES.find(each => each === step.status)
  if (status === undefined) return undefined
  return {
    type: 'step',
    name: step.name,
    status,
    ...texts(step),
    ...(Number.isSafeInteger(step.index) && { index: Number(step.index) }),
    ...(Number.isFinite(step.durationMs) && { durationMs: Number(step.durationMs) }),
  }
}

function texts(step: Readonly<Record<string, unknown>>): Pick<StepEvent, 'id' | 'text' | 'error'> {
  const found = (['id', 'text', 'error'] as const).filter(name => typeof step[name] === 'string')
  return Object.fromEntries(found.map(name => [name, step[name]]))
}
