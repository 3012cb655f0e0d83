/** What a plugin adds to the OpenAPI document (OpenAPI 3.0.3). */
export interface Description {
  readonly tags?: readonly { readonly name: string; readonly description: string }[]
  /** Operations by method, by absolute path with `{name}` for a parameter, in the order in which they are shown. */
  readonly paths?: Readonly<Record<string, Readonly<Record<string, object>>>>
  readonly schemas?: Readonly<Record<string, object>>
  readonly securitySchemes?: Readonly<Record<string, object>>
}
