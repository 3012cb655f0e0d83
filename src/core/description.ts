import type { SecurityRequirement } from '../http/security/security.ts'

/**
 * The part of the OpenAPI document (OpenAPI 3.0.3) that a plugin adds. If two parts have the same name (a tag, a schema, a
 * method of a path, an `operationId`), the first stays and the other is left out. The core comes first, then the plugins in
 * their order.
 */
export interface Description {
  readonly tags?: readonly { readonly name: string; readonly description: string }[]
  /** Operations by method, by absolute path with `{name}` for a parameter, in the order in which they are shown. */
  readonly paths?: Readonly<Record<string, Readonly<Record<string, object>>>>
  /**
   * Schemas by name for `#/components/schemas/…`, in addition to the core's: `RunBody`, `RunResult`, `RunEvent`, `RunRecord`,
   * `Problem` and others.
   */
  readonly schemas?: Readonly<Record<string, object>>
  readonly securitySchemes?: Readonly<Record<string, object>>
  /** The security of its operations that do not state their own. One requirement suffices. Default: as for the handler. */
  readonly security?: readonly SecurityRequirement[]
}
