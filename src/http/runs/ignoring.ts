import { isServableError } from '../../base/errors.ts'

/** Makes a catch handler that ignores one error code and throws all others again. */
export function ignoring(code: string): (error: unknown) => undefined {
  return error => {
    if (!isServableError(error) || error.code !== code) throw error
  }
}
