/**
 * Resources and prompts of tool servers.
 *
 * @module
 */

import type { PageLook } from './app-page.ts'

/** A resource of a tool server (MCP, `resources/list`). Texts that are longer than their limits are cut off. */
export interface ServerResource {
  /** At most 2,048 characters. */
  readonly uri: string
  /** At most 256 characters. */
  readonly name: string
  /** At most 2,000 characters. Null if the server gives none. */
  readonly description: string | null
  readonly mimeType: string | null
  /** In bytes, as the server says. Null if it does not say. */
  readonly size: number | null
}

/** A pattern of resources of a tool server (MCP, `resources/templates/list`). */
export interface ServerResourceTemplate extends Omit<ServerResource, 'uri' | 'size'> {
  /** A URI template (RFC 6570). At most 2,048 characters. */
  readonly uriTemplate: string
}

/** The resources of a tool server: none if it has no resources. */
export interface ServerResources {
  /** At most `maxTools`. */
  readonly resources: readonly ServerResource[]
  /** At most `maxTools`. */
  readonly templates: readonly ServerResourceTemplate[]
  /** What was left out, and why. */
  readonly warnings: readonly string[]
}

/** A part of a resource: `text`, or `blob` in base64. */
export type ServerContent = {
  readonly uri: string
  readonly mimeType: string | null
  /** How a page is shown (MCP Apps). What is no origin is left out. */
  readonly look?: PageLook
} & ({ readonly text: string } | { readonly blob: string })

/** A prompt of a tool server (MCP, `prompts/list`). */
export interface ServerPrompt {
  /** At most 256 characters. */
  readonly name: string
  /** At most 2,000 characters. Null if the server gives none. */
  readonly description: string | null
  /** At most 100. */
  readonly arguments: readonly {
    readonly name: string
    readonly description: string | null
    readonly required: boolean
  }[]
}

/** The prompts of a tool server: none if it has no prompts. */
export interface ServerPrompts {
  /** At most `maxTools`. */
  readonly prompts: readonly ServerPrompt[]
  /** What was left out, and why. */
  readonly warnings: readonly string[]
}

/** A prompt with its arguments filled in (MCP, `prompts/get`). */
export interface ServerPromptText {
  readonly description: string | null
  /** The content is a content block of MCP, as the server sends it. */
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: unknown }[]
}

/** What can be read of a tool server, by its kind. */
export interface ServerReads {
  readonly resources: ServerResources
  readonly resource: readonly ServerContent[]
  readonly prompts: ServerPrompts
  readonly prompt: ServerPromptText
}

/** Asks for something of a tool server. */
export type ServerQuery =
  | { readonly kind: 'resources' | 'prompts' }
  | { readonly kind: 'resource'; readonly uri: string }
  | {
      readonly kind: 'prompt'
      readonly name: string
      readonly args?: Readonly<Record<string, string>> | undefined
    }
