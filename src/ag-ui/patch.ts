import { isObject } from '../validation.ts'

const POINTER = /^(\/([^/~]|~[01])*)*$/
const OPERATIONS: Readonly<Record<string, 'value' | 'from' | undefined>> = {
  add: 'value',
  replace: 'value',
  test: 'value',
  move: 'from',
  copy: 'from',
}

const isPointer = (value: unknown): boolean => typeof value === 'string' && POINTER.test(value)

/** Whether a value is a JSON Patch (RFC 6902). Clients fail a run for what is none. */
export function isPatch(value: unknown): boolean {
  return Array.isArray(value) && value.every(isOperation)
}

function isOperation(value: unknown): boolean {
  if (!isObject(value) || !isPointer(value.path)) return false
  if (value.op === 'remove') return true
  const needed = typeof value.op === 'string' && Object.hasOwn(OPERATIONS, value.op) && OPERATIONS[value.op]
  if (!needed) return false
  return needed === 'from' ? isPointer(value.from) : value.value !== undefined
}
