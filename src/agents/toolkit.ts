import type { Tool } from './tool.ts'

/** Tools that belong together, such as those for one service. */
export interface Toolkit {
  readonly name: string
  readonly description?: string | undefined
  readonly tools: readonly Tool[]
  /** For the catalog: the kind of the toolkit, and what it needs. */
  readonly category?: string | undefined
  readonly requiresCredentials?: boolean | undefined
  readonly configFields?: readonly ConfigField[] | undefined
}

/** A setting that a toolkit needs before it works. */
export interface ConfigField {
  readonly name: string
  readonly description?: string | undefined
  readonly required?: boolean | undefined
  /** Whether it must not be shown or logged. */
  readonly secret?: boolean | undefined
}
