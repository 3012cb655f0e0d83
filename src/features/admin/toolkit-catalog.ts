/**
 * The catalog of toolkits.
 *
 * @module
 */

import type { ConfigField, Toolkit } from '../../agents/tool.ts'
import { ServableError } from '../../base/errors.ts'
import { summaryOf, type ToolSummary } from '../../http/tool-catalog.ts'

/** A toolkit in the catalog. */
export interface ToolkitSummary {
  /** The toolkit's name. */
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly category: string | null
  readonly requiresCredentials: boolean
  readonly configFields: readonly ConfigFieldView[]
}

/** A setting of a toolkit in the catalog. */
export interface ConfigFieldView {
  readonly name: string
  readonly description: string | null
  readonly required: boolean
  readonly secret: boolean
}

/** One toolkit, with its tools. */
export interface ToolkitDetail extends ToolkitSummary {
  readonly tools: readonly ToolSummary[]
}

/** Lists all toolkits. */
export function listToolkits(toolkits: readonly Toolkit[]): ToolkitSummary[] {
  return toolkits.map(toSummary)
}

/** Returns a toolkit with its tools. Throws `toolkit_not_found`. */
export function getToolkit(toolkits: readonly Toolkit[], id: string): ToolkitDetail {
  const toolkit = toolkits.find(({ name }) => name === id)
  if (toolkit === undefined) {
    throw new ServableError('toolkit_not_found', `There is no toolkit \`${id.slice(0, 100)}\``)
  }
  return { ...toSummary(toolkit), tools: toolkit.tools.map(tool => summaryOf(tool.name, tool)) }
}

function toSummary({
  name,
  description,
  category,
  requiresCredentials,
  configFields,
}: Toolkit): ToolkitSummary {
  return {
    id: name,
    name,
    description: description ?? null,
    category: category ?? null,
    requiresCredentials: requiresCredentials ?? false,
    configFields: (configFields ?? []).map(toField),
  }
}

function toField({ name, description, required, secret }: ConfigField): ConfigFieldView {
  return { name, description: description ?? null, required: required ?? false, secret: secret ?? false }
}
