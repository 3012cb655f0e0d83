import type { Tool } from './tool.ts'

/** Tools that belong together, such as those for one service. */
export interface Toolkit {
  readonly name: string
  readonly description?: string | undefined
  readonly tools: readonly Tool[]
  /** For the catalog: what kind of toolkit it is, and what it takes to use it. */
  readonly category?: string | undefined
  readonly requiresCredentials?: boolean | undefined
  readonly configFields?: readonly ConfigField[] | undefined
}

/** Something that a toolkit has to be told before it works. */
export interface ConfigField {
  readonly name: string
  readonly description?: string | undefined
  readonly required?: boolean | undefined
  /** It is not to be shown or logged. */
  readonly secret?: boolean | undefined
}
