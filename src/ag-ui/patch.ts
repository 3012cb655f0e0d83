import { isObject } from '../validation.ts'

const POINTER = /^(\/([^/~]|~[01])*)*$/

const isPointer = (value: unknown): boolean => typeof value === 'string' && POINTER.test(value)

/** Whether a value is a JSON Patch (RFC 6902). Clients fail a run for what is none. */
export function isPatch(value: unknown): boolean {
  return Array.isArray(value) && value.every(isOperation)
}

function isOperation(each: unknown): boolean {
  if (!isObject(each) || !isPointer(each.path)) return false
  const { op, from, value } = each
  if (op === 'move' || op === 'copy') return isPointer(from)
  return op === 'remove' || ((op === 'add' || op === 'replace' || op === 'test') && value !== undefined)
}
