import { isServableError } from '../../base/errors.ts'

/** Catches one error alone. */
export function ignoring(code: string): (error: unknown) => undefined {
  return error => {
    if (!isServableError(error) || error.code !== code) throw error
  }
}
